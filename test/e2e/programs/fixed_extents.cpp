// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; warns=HVD2010
// The batch size is the extent of an array, which cannot grow with the number of ranks: each batch is shared out as it is.
#include <hvd/hvd.hpp>

#include <array>
#include <cstdint>
#include <iostream>
#include <random>

constexpr std::size_t kRows = 10;

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(8);
  auto x = hvd::randn({61, 4});
  auto y = x.matmul(hvd::randn({4, 1})).tanh();
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05));
  std::mt19937 generator(3);
  std::uniform_int_distribution<int64_t> pick(0, 60);
  std::array<int64_t, kRows> picks{};
  std::array<int64_t, 2> guard{7, 7};
  for (int step = 0; step < 12; ++step) {
    for (std::size_t i = 0; i < kRows; ++i) picks[i] = pick(generator);
    auto rows = hvd::from_blob(picks.data(), {kRows}, hvd::kInt64).clone();
    opt.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net->forward(x.index_select(0, rows)), y.index_select(0, rows));
    loss.backward();
    opt.step();
    std::cout << "loss " << loss.item<double>() << " guard " << guard[0] + guard[1] << std::endl;
  }
  hvd::save(net, "fixed_extents.hvd");
}
