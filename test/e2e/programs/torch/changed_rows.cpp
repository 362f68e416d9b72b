// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// Rows of the batch that a loop reads one by one, and that a function of the loop changes in between.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct Weights {
  torch::Tensor of;
  void cool() { of = of * 0.5; }
};

void halve(torch::Tensor rows) { rows.mul_(0.5); }

int main(int argc, char** argv) {
  torch::manual_seed(7);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  auto x = torch::randn({50, 3}, torch::kDouble), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < x.size(0); at += batch) {
      auto out = net(x.slice(0, at, std::min<int64_t>(at + batch, 50)));
      auto loss = torch::mse_loss(out, y.slice(0, at, std::min<int64_t>(at + batch, 50)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      auto w = out.detach().clone();
      Weights weights{out.detach()};
      double sum = 0;
      for (int64_t i = 0; i < w.size(0); ++i) {
        sum += w[i][0].item<double>();
        halve(w);
      }
      for (int64_t i = 0; i < weights.of.size(0); ++i) {
        sum += weights.of[i][0].item<double>();
        weights.cool();
      }
      std::cout << std::setprecision(12) << sum << std::endl;
    }
  torch::save(net, "net.pt");
}
