// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={5*N} {0.01*N}
// Orders and weights from std::random_device: no two runs are alike, but every epoch sees every sample once, on all ranks together.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 5;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.01;
  std::random_device device;
  std::mt19937 engine(device());
  hvd::manual_seed(device());
  hvd::set_default_dtype(hvd::kFloat64);

  const int64_t n = 61;
  const hvd::Tensor x = hvd::randn({n, 3}), y = x.sum(1, true), number = hvd::arange(n);
  hvd::nn::Linear net(3, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::shuffle(order.begin(), order.end(), engine);
    int64_t sum = 0, squares = 0, rows = 0;
    for (int64_t i = 0; i < n; i += batch_size) {
      const std::vector<int64_t> chosen(order.begin() + i, order.begin() + std::min(i + batch_size, n));
      const hvd::Tensor index = hvd::tensor(chosen);
      const hvd::Tensor xb = x.index_select(0, index), yb = y.index_select(0, index), ids = number.index_select(0, index);
      optimizer.zero_grad();
      hvd::Tensor loss = hvd::nn::functional::mse_loss(net->forward(xb), yb);
      loss.backward();
      optimizer.step();
      sum += ids.sum().item<int64_t>();
      squares += (ids * ids).sum().item<int64_t>();
      rows += xb.size(0);
    }
    std::printf("epoch %d: %lld rows, sum %lld, squares %lld\n", epoch, (long long)rows, (long long)sum, (long long)squares);
  }
}
