// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={5*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: rows of different lengths, padded in a list of the step
// form: outputs filled up to the size of a full batch, for a number
// Samples of different lengths are collected in lists, replaced there by padded ones, and joined: the list begins empty in each step, and its items are
// no batch that was made before.
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

struct Sample {
  torch::Tensor board, scores;
};

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::stoi(argv[1]) : 5;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  torch::manual_seed(5);
  std::vector<Sample> samples;
  for (int i = 0; i < 32; ++i) samples.push_back({torch::rand({1, 4}, torch::kDouble), torch::rand({1, 2 + i % 4}, torch::kDouble)});
  torch::nn::Linear net(4, 5);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const int count = static_cast<int>(samples.size());
  std::cout << std::setprecision(9);
  for (int i = 0; i < count; i += batch_size) {
    const int end = std::min(i + batch_size, count);
    std::vector<torch::Tensor> boards, scores;
    for (int j = i; j < end; ++j) {
      boards.push_back(samples[j].board);
      scores.push_back(samples[j].scores);
    }
    for (int j = 0; j < end - i; ++j) scores[j] = torch::cat({scores[j], torch::zeros({1, 5 - scores[j].size(1)}, torch::kDouble)}, 1);
    const auto x = torch::cat(boards, 0), y = torch::cat(scores, 0);
    const auto out = net->forward(x);
    auto loss = torch::mse_loss(out, y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    // What is filled up is the batch, not this rank's rows.
    const auto full = torch::nn::functional::pad(out.detach(), torch::nn::functional::PadFuncOptions({0, 0, 0, batch_size - out.size(0)}));
    std::cout << loss.item<double>() << ' ' << full.mean().item<double>() << '\n';
  }
  torch::save(net, "net.pt");
}
