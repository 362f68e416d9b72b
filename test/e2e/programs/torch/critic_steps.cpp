// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; scaled={6*N} {0.05*N}; ranks=1,2,3; warns=HVD2005; timeout=120
// In each step of a forger a judge has several of its own, with batches of their own; the loss of the last of them, and what the judge thought of it, is shown beside the forger's.
// form: the loss of the last batch of an inner training loop, read in the step around it
#include <torch/torch.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>

struct Coins {
  torch::Tensor all, order;
  int64_t size, next = 0;
  torch::Tensor draw() {
    if (next + size > all.size(0)) next = 0;
    auto taken = all.index_select(0, order.slice(0, next, next + size));
    next += size;
    return taken;
  }
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(13);
  std::cout << std::setprecision(10);
  Coins coins{torch::randn({54, 2}, torch::kDouble) + 1.5, torch::randperm(54), batch};
  torch::nn::Sequential forger(torch::nn::Linear(2, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2)), judge(torch::nn::Linear(2, 5), torch::nn::Tanh(), torch::nn::Linear(5, 1));
  forger->to(torch::kDouble);
  judge->to(torch::kDouble);
  torch::optim::SGD forging(forger->parameters(), rate), judging(judge->parameters(), rate);
  for (int step = 0; step < 5; ++step) {
    torch::Tensor judged, thought;
    for (int round = 0; round < 2; ++round) {
      auto real = coins.draw();
      auto made = forger->forward(torch::randn({real.size(0), 2}, torch::kDouble)).detach();
      thought = judge->forward(real);
      judged = judge->forward(made).mean() - thought.mean() + 0.1 * thought.pow(2).mean();
      judging.zero_grad();
      judged.backward();
      judging.step();
    }
    auto forged = -judge->forward(forger->forward(torch::randn({batch, 2}, torch::kDouble))).mean();
    forging.zero_grad();
    forged.backward();
    forging.step();
    std::cout << step << ": " << judged.item<double>() << ' ' << forged.item<double>() << " of " << thought.size(0) << '\n';
  }
}
