// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N} {12*N}; ranks=1,2,3; timeout=60
// Batches that split() makes: of positions in a new order, and of the rows themselves. The sizes stand nowhere else.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t drawn = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  const std::int64_t in_order = argc > 3 ? std::atoll(argv[3]) : 12;
  hvd::manual_seed(6);
  const auto x = hvd::randn({50, 5}), y = hvd::randn({50, 1});
  hvd::nn::Linear net(5, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  for (const auto& index : hvd::randperm(50).split(drawn)) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(x.index_select(0, index)), y.index_select(0, index));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%ld rows %.10f\n", static_cast<long>(index.size(0)), loss.item<double>());
  }
  const auto xs = x.split(in_order), ys = y.split(in_order);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(xs[i]), ys[i]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%.10f\n", loss.item<double>());
  }
  hvd::save(net, "net.safetensors");
}
