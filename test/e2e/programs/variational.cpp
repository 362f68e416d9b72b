// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
// A variational autoencoder: its mean and its log variance are used twice, in the sample and in the divergence, and a gradient that all
// elements of a sum share arrives first.
#include <hvd/hvd.hpp>

#include <iomanip>
#include <iostream>

struct Autoencoder : hvd::nn::Module {
  hvd::nn::Linear in{4, 6}, mean{6, 2}, spread{6, 2}, out{2, 4};
  Autoencoder() {
    register_module("in", in);
    register_module("mean", mean);
    register_module("spread", spread);
    register_module("out", out);
  }
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  const int64_t batch = argc > 1 ? std::stoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.05;
  auto x = hvd::randn({46, 4});
  Autoencoder net;
  hvd::optim::SGD optimizer(net.parameters(), hvd::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += batch) {
      auto rows = x.slice(0, at, std::min<int64_t>(at + batch, x.size(0)));
      auto hidden = net.in(rows).tanh();
      auto mean = net.mean(hidden), log_variance = net.spread(hidden);
      auto code = mean + (log_variance * 0.5).exp() * 0.3;
      auto divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum() / rows.size(0);
      auto loss = hvd::nn::functional::mse_loss(net.out(code), rows) + divergence;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::cout << std::setprecision(12) << total << "\n";
  }
  hvd::save(net, "net.safetensors");
}
