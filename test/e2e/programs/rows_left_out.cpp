// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={8*N} {0.05*N}; timeout=60
// A loss that is added up row by row, of few rows only: a rank may have none of them.
#include <hvd/hvd.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace F = hvd::nn::functional;

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(7);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  const int64_t n = 48;
  auto x = hvd::randn({n, 4});
  hvd::nn::Sequential net(hvd::nn::Linear(4, 6), hvd::nn::Tanh(), hvd::nn::Linear(6, 2));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < n; at += batch) {
      auto data = x.slice(0, at, std::min(at + batch, n));
      opt.zero_grad();
      auto out = net->forward(data);
      auto loss = hvd::zeros({});
      int rows = 0;
      for (int64_t i = 0; i < data.size(0); ++i) {
        if (data.select(0, i).select(0, 0).item<double>() < 0.2) continue;
        loss = loss + F::mse_loss(out.select(0, i), data.select(0, i).slice(0, 0, 2));
        ++rows;
      }
      if (rows > 0) loss = loss / rows;
      loss.backward();
      opt.step();
      total += loss.item<double>();
    }
    std::cout << "epoch " << epoch << " " << total << "\n";
  }
  hvd::save(net, "net.safetensors");
}
