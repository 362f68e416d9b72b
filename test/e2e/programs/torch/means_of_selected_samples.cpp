// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={12*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a mean over the samples that a mask selects, by index() or masked_select(), in a loss or a metric
// form: a mean over the samples at the positions that nonzero() gives
// form: values of selected samples put into a tensor with a row for each sample
// Of each twelve samples the first five count, so the last ranks select none: their means are zero divided by zero, and must not be heard.
#include <torch/torch.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace F = torch::nn::functional;

static torch::Tensor masked_mean(const torch::Tensor& values, const torch::Tensor& mask) { return values.masked_select(mask.unsqueeze(1)).mean(); }

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 12;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(8);
  auto x = torch::randn({96, 6});
  auto y = torch::sin(x.sum(1, true));
  auto valid = torch::arange(96).remainder(12) < 5;

  torch::nn::Sequential plain(torch::nn::Linear(6, 8), torch::nn::Tanh(), torch::nn::Linear(8, 2));
  torch::optim::SGD plain_optimizer(plain->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0, right = 0;
    int64_t selected = 0, steps = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      const int64_t end = std::min(at + size, x.size(0));
      auto mask = valid.slice(0, at, end);
      auto target = y.slice(0, at, end);
      auto out = plain->forward(x.slice(0, at, end));
      auto rows = torch::nonzero(mask).view(-1);
      if (rows.numel() == 0) continue;
      selected += rows.size(0);
      auto loss = torch::mse_loss(out.index_select(0, rows), target.index_select(0, rows).expand({-1, 2}));
      plain_optimizer.zero_grad();
      loss.backward();
      plain_optimizer.step();
      total += loss.item<double>();
      right += out.index({mask}).argmax(1).eq((target.index({mask}) > 0).squeeze(1).to(torch::kLong)).to(torch::kDouble).mean().item<double>();
      ++steps;
    }
    std::printf("positions %d: %.9f %.6f of %ld\n", epoch, total / steps, right / steps, static_cast<long>(selected));
  }

  torch::nn::Linear mixed(6, 1);
  torch::optim::SGD mixed_optimizer(mixed->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0, shown = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      const int64_t end = std::min(at + size, x.size(0));
      auto mask = valid.slice(0, at, end);
      auto target = y.slice(0, at, end);
      auto out = mixed->forward(x.slice(0, at, end));
      auto wanted = torch::zeros_like(target);
      wanted.index_put_({mask}, target.index({mask}) * 2);
      auto errors = (out - wanted).pow(2);
      auto loss = errors.mean();
      if (mask.any().item<bool>()) loss = loss + 0.5 * masked_mean(errors, mask);
      auto positive = errors.index({mask & (target.squeeze(1) > -2)});
      loss = loss + positive.mean();
      mixed_optimizer.zero_grad();
      loss.backward();
      mixed_optimizer.step();
      total += loss.item<double>();
      shown += positive.detach().mean().item<double>();
    }
    std::printf("mixed %d: %.9f %.9f\n", epoch, total, shown);
  }

  torch::nn::Linear classes(6, 2);
  torch::optim::SGD class_optimizer(classes->parameters(), rate);
  auto weight = torch::tensor({0.3, 0.7});
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      const int64_t end = std::min(at + size, x.size(0));
      auto mask = valid.slice(0, at, end);
      auto label = (y.slice(0, at, end).squeeze(1) > 0).to(torch::kLong);
      auto loss = F::cross_entropy(classes->forward(x.slice(0, at, end)).index({mask}), label.index({mask}), F::CrossEntropyFuncOptions().weight(weight));
      class_optimizer.zero_grad();
      loss.backward();
      class_optimizer.step();
      total += loss.item<double>();
    }
    std::printf("classes %d: %.9f\n", epoch, total);
  }
  return 0;
}
