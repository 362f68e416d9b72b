// SPDX-License-Identifier: Apache-2.0
// e2e: args=; hvdize=--steps=divide --warmup=5; edit=kSteps = 24 => kSteps = {24//N}; edit=kBatch = 5 => kBatch = {5*N}; edit=kRate = 0.05 => kRate = {0.05*N}; edit=optimizer.step() => optimizer.set_lr_factor(step < 5 ? {1/N} + (1 - {1/N}) * step / 5.0 : 1), optimizer.step()
// A number of steps that is written in the program, divided among the ranks; a warm-up to the scaled rate; batches drawn in the loop.
#include <hvd/hvd.hpp>

#include <cstdio>

constexpr int kSteps = 24;
constexpr int kBatch = 5;
constexpr double kRate = 0.05;

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(12);
  hvd::nn::Sequential net(hvd::nn::Linear(3, 7), hvd::nn::Tanh(), hvd::nn::Linear(7, 1));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(kRate).momentum(0.5));
  for (int step = 0; step < kSteps; ++step) {
    const hvd::Tensor x = hvd::randn({kBatch, 3});
    const hvd::Tensor y = (x * x).sum(1, true);
    optimizer.zero_grad();
    hvd::Tensor loss = hvd::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    if (step % 3 == 0) std::printf("step %d loss %.9f\n", step, loss.item<double>());
  }
  hvd::save(net, "net.safetensors");
}
