// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; ranks=1,2,4; timeout=60; warns=HVD2001,HVD2010
// Every step uses all samples: each rank takes its rows of them. There are fewer rows than ranks at times.
#include <hvd/hvd.hpp>

#include <cstdio>

class Fit {
 public:
  Fit(hvd::Tensor x, hvd::Tensor y) : x_(std::move(x)), y_(std::move(y)), net_(4, 1), optimizer_(net_->parameters(), hvd::optim::SGDOptions(0.05)) {}

  double step() {
    optimizer_.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net_->forward(x_), y_);
    loss.backward();
    optimizer_.step();
    return loss.item<double>();
  }

 private:
  hvd::Tensor x_, y_;
  hvd::nn::Linear net_;
  hvd::optim::SGD optimizer_;
};

int main() {
  for (int64_t rows : {64, 3}) {
    auto x = hvd::randn({rows, 4});
    Fit fit(x, x.sum(1, true));
    for (int step = 0; step < 8; ++step) std::printf("%d of %d: %.5f\n", step, static_cast<int>(rows), fit.step());
  }
}
