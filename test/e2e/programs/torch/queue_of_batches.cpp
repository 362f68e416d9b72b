// e2e: modes=global; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// A thread reads ahead; the training loop waits for its batches and takes them in order.
#include <torch/torch.h>

#include <algorithm>
#include <condition_variable>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <queue>
#include <thread>

struct Sample {
  torch::Tensor x, y;
};

template <typename T>
class Queue {
 public:
  void push(T item) {
    std::unique_lock<std::mutex> hold(lock_);
    room_.wait(hold, [this] { return items_.size() < 4; });
    items_.push(std::move(item));
    more_.notify_one();
  }
  bool pop(T& item) {
    std::unique_lock<std::mutex> hold(lock_);
    more_.wait(hold, [this] { return !items_.empty() || closed_; });
    if (items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop();
    room_.notify_one();
    return true;
  }
  void close() {
    std::lock_guard<std::mutex> hold(lock_);
    closed_ = true;
    more_.notify_all();
  }

 private:
  std::queue<T> items_;
  std::mutex lock_;
  std::condition_variable more_, room_;
  bool closed_ = false;
};

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto x = torch::randn({50, 3}, torch::kDouble), y = x.sum(1, true);
  for (int epoch = 0; epoch < 3; ++epoch) {
    Queue<Sample> queue;
    std::thread producer([&] {
      for (int64_t at = 0; at < 50; at += batch) queue.push({x.slice(0, at, std::min<int64_t>(at + batch, 50)), y.slice(0, at, std::min<int64_t>(at + batch, 50))});
      queue.close();
    });
    double total = 0;
    Sample b;
    while (queue.pop(b)) {
      auto loss = torch::mse_loss(net(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    producer.join();
    std::cout << std::setprecision(12) << total << std::endl;
  }
  torch::save(net, "net.pt");
}
