// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: samples drawn by chances that each step sets anew for those it has used (prioritised replay)
// The table of chances is there before the step and after it: all ranks hold all of it, and none of it is a batch.
#include <torch/torch.h>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(12);
  const int64_t capacity = 90;
  auto state = torch::randn({capacity, 4}), worth = torch::tanh(state.sum(1));
  auto chance = torch::ones({capacity});
  torch::nn::Linear critic(4, 1);
  torch::optim::SGD optimizer(critic->parameters(), rate);
  for (int step = 1; step <= 24; ++step) {
    auto scaled = chance.pow(0.6);
    auto drawn = torch::multinomial(scaled, size, true);
    auto weight = (capacity * scaled.index_select(0, drawn) / scaled.sum()).pow(-0.4);
    weight = weight / weight.max();
    auto error = critic->forward(state.index_select(0, drawn)).squeeze(1) - worth.index_select(0, drawn);
    auto loss = (weight * error.pow(2)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    chance.index_put_({drawn}, error.detach().abs() + 1e-3);
    if (step % 6 == 0) std::printf("%d: %.9f largest %.9f all %.9f\n", step, loss.item<double>(), chance.max().item<double>(), chance.sum().item<double>());
  }
  return 0;
}
