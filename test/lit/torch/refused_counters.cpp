// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Loops over drawn samples with a counter beside the list that is no number of a sample: some items are left out, or others count, too.

//--- left_out.cpp
// form: a loop over drawn transitions that leaves some out, with a counter beside it
#include <random>
#include <vector>

#include <torch/torch.h>

struct Step {
  torch::Tensor state;
  int action;
  double reward;
  bool valid;
};

int main() {
  std::mt19937 dice(5);
  std::vector<Step> memory;
  for (int i = 0; i < 50; ++i) memory.push_back({torch::randn({3}), i % 4, 0.1 * (i % 5), i % 3 != 0});
  torch::nn::Linear net(3, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 10; ++step) {
    std::vector<Step> batch;
    for (int k = 0; k < 8; ++k) batch.push_back(memory[dice() % memory.size()]);
    std::vector<torch::Tensor> states;
    for (const Step& s : batch) states.push_back(s.state);
    const torch::Tensor q = net(torch::stack(states));
    torch::Tensor target = q.detach().clone();
    int row = 0;
    for (const Step& s : batch) {
      if (!s.valid) continue;
      target[row][s.action] = s.reward;  // refused: HVD3012
      ++row;
    }
    const torch::Tensor loss = torch::mse_loss(q, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- begins_later.cpp
#include <random>
#include <vector>

#include <torch/torch.h>

struct Step {
  torch::Tensor state;
  int action;
  double reward;
  bool valid;
};

int main() {
  std::mt19937 dice(5);
  std::vector<Step> memory;
  for (int i = 0; i < 50; ++i) memory.push_back({torch::randn({3}), i % 4, 0.1 * (i % 5), i % 3 != 0});
  torch::nn::Linear net(3, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 10; ++step) {
    std::vector<Step> batch;
    for (int k = 0; k < 8; ++k) batch.push_back(memory[dice() % memory.size()]);
    std::vector<torch::Tensor> states;
    for (const Step& s : batch) states.push_back(s.state);
    const torch::Tensor q = net(torch::stack(states));
    torch::Tensor target = q.detach().clone();
    int row = 1;
    for (const Step& s : batch) {
      if (row == 8) break;
      target[row][s.action] = s.reward;  // refused: HVD3012
      ++row;
    }
    const torch::Tensor loss = torch::mse_loss(q, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

//--- counted_twice.cpp
#include <random>
#include <vector>

#include <torch/torch.h>

struct Step {
  torch::Tensor state;
  int action;
  double reward;
  bool valid;
};

int main() {
  std::mt19937 dice(5);
  std::vector<Step> memory;
  for (int i = 0; i < 50; ++i) memory.push_back({torch::randn({3}), i % 4, 0.1 * (i % 5), i % 3 != 0});
  torch::nn::Linear net(3, 4);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 10; ++step) {
    std::vector<Step> batch;
    for (int k = 0; k < 8; ++k) batch.push_back(memory[dice() % memory.size()]);
    std::vector<torch::Tensor> states;
    for (const Step& s : batch) states.push_back(s.state);
    const torch::Tensor q = net(torch::stack(states));
    torch::Tensor target = q.detach().clone();
    int row = 0;
    for (const Step& s : batch) {
      if (!s.valid) ++row;
      if (row >= 8) break;
      target[row][s.action] = s.reward;  // refused: HVD3012
      ++row;
    }
    const torch::Tensor loss = torch::mse_loss(q, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
