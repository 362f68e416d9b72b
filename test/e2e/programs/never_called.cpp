// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Functions of earlier trials that nothing calls any more: their optimizers, their losses and their batches, which could not be shared out, decide nothing.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;
using hvd::Tensor;

namespace {

// Only the trial below calls it.
void step(hvd::optim::Adam& opt, const Tensor& loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
}

[[maybe_unused]] void train_whole(hvd::nn::Linear net, const Tensor& x, const Tensor& y) {
  hvd::optim::Adam opt(net->parameters(), hvd::optim::AdamOptions(0.01));
  for (int epoch = 0; epoch < 20; ++epoch) step(opt, F::mse_loss(net(x), y));
}

}  // namespace

double penalty(hvd::nn::Linear net) {
  const Tensor loss = net->parameters()[0].pow(2).sum();
  loss.backward();
  return loss.item<double>();
}

void train_summed(hvd::nn::Linear& net, const Tensor& x, const Tensor& y, long size) {
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.001));
  for (long i = 0; i < x.size(0); i += size) {
    const Tensor loss = F::mse_loss(net(x.slice(0, i, i + size)), y.slice(0, i, i + size), F::MSELossFuncOptions().reduction(hvd::kSum));
    opt.zero_grad();
    loss.backward();
    opt.step();
    std::printf("%.3f %.3f\n", loss.item<double>(), penalty(net));
  }
}

int main(int, char** argv) {
  hvd::manual_seed(5);
  const long size = std::strtol(argv[1], nullptr, 10);
  auto x = hvd::randn({45, 6}, hvd::kFloat64), y = x.slice(1, 0, 2).tanh();
  hvd::nn::Linear net(6, 2);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::atof(argv[2])));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (long i = 0; i < x.size(0); i += size) {
      const Tensor loss = F::mse_loss(net(x.slice(0, i, i + size)), y.slice(0, i, i + size));
      opt.zero_grad();
      loss.backward();
      opt.step();
      total += loss.item<double>();
    }
    std::printf("%.9f\n", total);
  }
  hvd::save(net, "net.safetensors");
}
