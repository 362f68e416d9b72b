// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 8 => kBatch = {8*N}; edit=kRate = 0.1 => kRate = {0.1*N}; ranks=1,2,3; timeout=60
// A trainer whose members make themselves, one for each rate of a list; adversarial samples made from the gradients of the inputs; checkpoints that
// are found by listing their folder; a log through a file descriptor; a clock that is read through a pointer.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;
using hvd::Tensor;

const int64_t kBatch = 8;
const double kRate = 0.1;

struct NetImpl : hvd::nn::Module {
  NetImpl() : hidden(register_module("hidden", hvd::nn::Linear(5, 7))), out(register_module("out", hvd::nn::Linear(7, 3))) {}
  Tensor forward(const Tensor& x) { return out(hidden(x).tanh()); }
  hvd::nn::Linear hidden, out;
};
HVD_MODULE(Net);

struct Trainer {
  Net net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(kRate).momentum(0.5)};
  double pull = 0;

  double step(const Tensor& x, const Tensor& y) {
    auto probe = x.detach().clone().requires_grad_(true);
    F::cross_entropy(net->forward(probe), y).backward();
    auto g = probe.grad();
    pull += g.abs().sum().item<double>();
    opt.zero_grad();
    auto loss = F::cross_entropy(net->forward(x), y) + F::cross_entropy(net->forward(x + g / (g.abs() + 1e-12) * 0.05), y);
    loss.backward();
    opt.step();
    return loss.item<double>();
  }
};

void report(FILE* out, double rate, double loss, double pull) { fprintf(out, "%g: %.10f, gradients of inputs %.10f\n", rate, loss, pull); }

int newest(const std::string& folder) {
  int last = -1;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) last = std::max(last, std::stoi(entry.path().stem().string()));
  return last;
}

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const Tensor x = hvd::randn({53, 5}), y = x.matmul(hvd::randn({5, 3})).argmax(1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(kBatch));
  const int log = open("log.txt", O_WRONLY | O_CREAT | O_APPEND, 0644);
  timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  std::filesystem::create_directories("saved");
  for (double rate : {kRate, kRate / 4}) {
    Trainer trainer;
    trainer.opt.set_lr(rate);
    for (int epoch = 0; epoch < 3; ++epoch) {
      double sum = 0;
      for (auto& batch : *loader) sum += trainer.step(batch.data, batch.target);
      const int next = newest("saved") + 1;
      hvd::save(trainer.net, "saved/" + std::to_string(next) + ".safetensors");
      dprintf(log, "%d %.10f\n", next, sum);
      report(stdout, rate, sum, trainer.pull);
      clock_gettime(CLOCK_MONOTONIC, &now);
      if (now.tv_sec - begin.tv_sec > 50) break;
    }
  }
  close(log);
}
