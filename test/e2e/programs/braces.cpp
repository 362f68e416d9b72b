// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// Numbers in braces: a batch size of an unsigned type, a rate, what is shown.
#include <hvd/hvd.hpp>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  hvd::manual_seed(3);
  const std::size_t batch{argc > 1 ? std::stoul(argv[1]) : 8};
  const double rate{argc > 2 ? std::stod(argv[2]) : 0.1};
  const int64_t rows{50};
  hvd::set_default_dtype(hvd::kFloat64);
  auto x = hvd::randn({rows, 3}), y = x.sum(1, true);
  hvd::nn::Linear net(3, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions{rate});
  for (int epoch{0}; epoch < 2; ++epoch)
    for (int64_t at{0}; at < x.size(0); at += batch) {
      const int64_t end{std::min<int64_t>(at + static_cast<int64_t>(batch), rows)};
      auto loss = hvd::nn::functional::mse_loss(net(x.slice(0, at, end)), y.slice(0, at, end));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const double shown{loss.item<double>()};
      std::cout << shown << "\n";
    }
}
