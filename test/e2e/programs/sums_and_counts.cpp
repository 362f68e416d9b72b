// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=rate = 0.1 => rate = {0.1*N}; ranks=1,2,3; timeout=60
// Values that are built up in parts: means over counted terms formed in functions of their own, sums with terms free of samples, tensors
// that are carried from step to step, steps in one statement with the backward pass, numbers of <random> for a whole batch.
#include <hvd/hvd.hpp>

#include <iostream>
#include <random>
#include <vector>

namespace F = hvd::nn::functional;
using hvd::Tensor;

struct Criterion {
  F::CrossEntropyFuncOptions options = F::CrossEntropyFuncOptions().ignore_index(1);
  Tensor operator()(const Tensor& out, const Tensor& target) const { return F::cross_entropy(out, target, options); }
};

Tensor masked(const Tensor& out, const Tensor& target) {
  auto mask = target.ne(0).to(hvd::kFloat64);
  auto error = (out - F::one_hot(target, 3).to(hvd::kFloat64)).pow(2).sum(1);
  return (error * mask).sum() / (mask.sum() + 1e-3);
}

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const int64_t n = 49, batch = 8;
  const double rate = 0.1;
  auto x = hvd::randn({n, 5});
  auto c = x.matmul(hvd::randn({5, 3})).argmax(1);
  hvd::nn::Sequential net(hvd::nn::Linear(5, 7), hvd::nn::Tanh(), hvd::nn::Linear(7, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, c), hvd::data::DataLoaderOptions(batch));
  Criterion criterion;
  Tensor average = hvd::zeros({1}), hits = hvd::zeros({1}), middle = hvd::zeros({3});
  std::mt19937 engine(7);
  std::normal_distribution<double> normal(0, 0.1);
  double best = 1e9, total = 0;
  int steps = 0;
  std::cout.precision(11);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& b : *loader) {
      std::vector<double> noise(b.data.size(0) * 5);
      for (double& v : noise) v = normal(engine);
      auto out = net->forward(b.data + hvd::tensor(noise).view({b.data.size(0), 5}));
      auto loss = criterion(out, b.target) + 0.5 * masked(out, b.target) + out.pow(2).mean() * 0.1;
      opt.zero_grad(), ++steps;
      loss.backward(), opt.step();
      opt.zero_grad();
      auto second = masked(net->forward(b.data), b.target);
      second.backward(), opt.step();
      average = average * 0.9 + loss.detach() * 0.1;
      middle = middle * 0.5 + out.detach().mean(0) * 0.5;
      hits = hits + out.argmax(1).eq(b.target).sum().to(hvd::kFloat64);
      total += loss.item<double>();
      if (steps % 3 == 0) std::cout << "step " << steps << " " << average.item<double>() << " " << hits.item<double>() << " " << middle << "\n";
      if (average.item<double>() < best) best = average.item<double>(), hvd::save(net, "best.safetensors");
    }
  }
  std::cout << total << " " << hits.item<double>() / n << " " << best << "\n";
  hvd::optim::SGD slow(net->parameters(), hvd::optim::SGDOptions(rate * 0.01));
  for (auto& b : *loader) {
    slow.zero_grad();
    auto out = net->forward(b.data);
    auto mask = b.target.ne(2).to(hvd::kFloat64);
    auto loss = (out.pow(2).sum(1) * mask).sum() / (mask.sum() + 1e-3);
    loss.backward();
    slow.step();
    std::cout << loss.item<double>() << "\n";
  }
  hvd::save(net, "net.safetensors");
}
