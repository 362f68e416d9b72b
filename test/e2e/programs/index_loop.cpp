// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={16*N} {0.05*N}; timeout=60
// A regression on generated data with a hand-written index loop.
#include <hvd/hvd.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <vector>

namespace F = hvd::nn::functional;

static hvd::Tensor make_targets(const hvd::Tensor& x, const hvd::Tensor& w) { return x.matmul(w).tanh(); }

struct History {
  std::vector<double> losses;
  double best = 1e30;
};

double evaluate(hvd::nn::Sequential& net, const hvd::Tensor& x, const hvd::Tensor& y) {
  hvd::NoGradGuard guard;
  net->eval();
  auto loss = F::mse_loss(net->forward(x), y);
  return loss.item<double>();
}

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(7);
  const int64_t n = 203, dim = 6;
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 16;
  double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto w = hvd::randn({dim, 1});
  auto x = hvd::randn({n, dim});
  auto y = make_targets(x, w);

  hvd::nn::Sequential net(hvd::nn::Linear(dim, 12), hvd::nn::Tanh(), hvd::nn::Linear(12, 1));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  History history;
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < 6; ++epoch) {
    net->train();
    auto order = hvd::randperm(n);
    double sum = 0;
    int64_t rows = 0, steps = 0;
    for (int64_t i = 0; i < n; i += batch_size) {
      auto idx = order.slice(0, i, std::min(i + batch_size, n));
      auto xb = x.index_select(0, idx);
      auto yb = y.index_select(0, idx);
      opt.zero_grad();
      auto out = net->forward(xb);
      auto loss = F::mse_loss(out, yb);
      loss.backward();
      opt.step();
      sum += loss.item<double>() * xb.size(0);
      rows += xb.size(0);
      if (++steps % 5 == 0) std::cout << "  step " << steps << " error " << (out - yb).abs().max().item<double>() << "\n";
    }
    if (epoch == 3) {
      lr *= 0.5;
      opt.set_lr(lr);
    }
    const double test = evaluate(net, x, y);
    history.losses.push_back(sum / rows);
    if (test < history.best) {
      history.best = test;
      hvd::save(net, "best.safetensors");
    }
    std::printf("epoch %d train %.6f test %.6f lr %g\n", epoch, history.losses.back(), test, opt.lr());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > 1000) break;
  }
  hvd::save(net, "last.safetensors");
}
