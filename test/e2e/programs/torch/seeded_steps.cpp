// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// Each step starts the generator anew: what is drawn for the batch comes from there, on all ranks.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  torch::manual_seed(7);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  auto x = torch::randn({50, 3}, torch::kDouble), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  int step = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < x.size(0); at += batch) {
      torch::manual_seed(++step);
      auto rows = x.slice(0, at, std::min<int64_t>(at + batch, 50));
      auto noise = torch::randn_like(rows) * 0.1;
      auto loss = torch::mse_loss(net(rows + noise), y.slice(0, at, std::min<int64_t>(at + batch, 50)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::cout << std::setprecision(12) << loss.item<double>() << std::endl;
    }
  torch::save(net, "net.pt");
}
