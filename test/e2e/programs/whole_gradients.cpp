// SPDX-License-Identifier: Apache-2.0
// e2e: name=core_root_of_a_mean; cxx=-DFORM=1; scaled={8*N} {0.05*N}
// e2e: name=core_overlap_of_sums; cxx=-DFORM=2; scaled={8*N} {0.05*N}
// Losses that are no linear function of means and sums over the batch: these are made whole with their gradients.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8, n = 43;
  const hvd::Tensor x = hvd::randn({n, 4}), y = hvd::sigmoid(x.sum(1, true) * 3);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(argc > 2 ? std::atof(argv[2]) : 0.05));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < n; i += batch) {
      const hvd::Tensor xb = x.slice(0, i, std::min(i + batch, n)), yb = y.slice(0, i, std::min(i + batch, n));
      const hvd::Tensor p = hvd::sigmoid(net->forward(xb));
#if FORM == 1
      const hvd::Tensor loss = hvd::sqrt(hvd::nn::functional::mse_loss(p, yb));
#else
      const hvd::Tensor loss = 1 - (p * yb).sum() * 2 / (p.sum() + yb.sum());
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("epoch %d: %.9f\n", epoch, total);
  }
}
