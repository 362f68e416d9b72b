// e2e: expect=refused:HVD3020
// How many files there were is needed by every rank, and only the root may go through the folder that it changes.
#include <torch/torch.h>

#include <filesystem>
#include <iostream>
namespace fs = std::filesystem;

int main() {
  torch::manual_seed(1);
  int64_t removed = 0;
  fs::create_directories("checkpoints");
  for (const auto& entry : fs::directory_iterator("checkpoints")) {
    fs::remove(entry.path());
    ++removed;
  }
  auto x = torch::rand({50, 3}, torch::kDouble);
  auto y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.1 / static_cast<double>(removed + 1));
  for (int64_t i = 0; i < 50; i += 8) {
    auto loss = torch::mse_loss(net->forward(x.slice(0, i, std::min<int64_t>(i + 8, 50))), y.slice(0, i, std::min<int64_t>(i + 8, 50)));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::cout << net->weight << std::endl;
}
