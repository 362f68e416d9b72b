// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3013
// Samples made by a thread of each rank until there are enough: how many there are when a step begins is another on each rank.
#include <torch/torch.h>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>
struct Sample { torch::Tensor x, y; };
struct Trainer {
  std::vector<Sample> data;
  std::mutex mutex;
  std::condition_variable more;
  int fresh = 0;
  bool done = false;
  torch::nn::Linear net{3, 1};
  torch::optim::SGD optimizer{net->parameters(), 0.01};
  void make() {
    for (int game = 0; !done; ++game) {
      Sample s;
      s.x = torch::full({1, 3}, 0.1 * (game % 10));
      s.y = s.x.sum(1, true);
      std::unique_lock<std::mutex> lock(mutex);
      data.push_back(s);
      ++fresh;
      more.notify_all();
    }
  }
  void epoch() {
    int n = data.size();
    for (int at = 0; at < n; at += 4) {
      int end = std::min(at + 4, n);
      std::vector<torch::Tensor> xs, ys;
      for (int j = at; j != end; ++j) {
        xs.push_back(data[j].x);
        ys.push_back(data[j].y);
      }
      auto loss = torch::mse_loss(net(torch::cat(xs)), torch::cat(ys));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    std::cout << n << " samples" << std::endl;
  }
  void train() {
    std::thread worker(&Trainer::make, this);
    for (int round = 0; round < 5; ++round) {
      std::unique_lock<std::mutex> lock(mutex);
      more.wait(lock, [&] { return fresh >= 40; });
      epoch();
      fresh = 0;
    }
    done = true;
    worker.join();
    std::cout << net->weight << std::endl;
  }
};
int main() {
  torch::manual_seed(1);
  Trainer t;
  t.train();
}
