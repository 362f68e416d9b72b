// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// Cells of a table that are no numbers are reported, by every rank alike, and the program goes on: each message stands once in its output.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  std::vector<double> cells;
  for (int i = 0; i < 150; ++i) {
    const std::string cell = i % 47 == 5 ? "n/a" : std::to_string((i * 37 % 100) / 100.0);
    double value = 0;
    try {
      value = std::stod(cell);
    } catch (const std::exception& e) {
      std::cout << "cell " << i << ": '" << cell << "' is no number" << std::endl;
      std::printf("0 is taken for it\n");
    }
    cells.push_back(value);
  }
  auto x = hvd::tensor(cells).view({50, 3}), y = x.sum(1, true);
  hvd::nn::Linear net(3, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < x.size(0); at += batch) {
      auto loss = hvd::nn::functional::mse_loss(net(x.slice(0, at, std::min<int64_t>(at + batch, 50))), y.slice(0, at, std::min<int64_t>(at + batch, 50)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  std::cout << std::setprecision(12) << net->weight.sum().item<double>() << std::endl;
}
