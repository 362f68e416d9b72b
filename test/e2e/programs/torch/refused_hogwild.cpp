// e2e: expect=refused:HVD3030
// Threads that begin in a list, `threads.emplace_back(work, i)`, and each step on the shared parameters.
#include <torch/torch.h>

#include <mutex>
#include <thread>
#include <vector>

int main() {
  auto x = torch::randn({52, 4}, torch::kDouble), y = x.sum(1, true);
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  std::mutex mutex;
  auto work = [&](int id) {
    torch::optim::SGD optimizer(net->parameters(), 0.01);
    for (int64_t i = id * 26; i < (id + 1) * 26; i += 8) {
      auto loss = torch::mse_loss(net(x.slice(0, i, i + 8)), y.slice(0, i, i + 8));
      std::lock_guard<std::mutex> guard(mutex);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(work, i);
  for (auto& t : threads) t.join();
}
