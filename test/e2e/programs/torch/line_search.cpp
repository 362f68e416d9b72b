// SPDX-License-Identifier: Apache-2.0
// e2e: name=line_search; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_by_rank; scaled={8*N} 0.5; modes=per-rank; ranks=1,2,3; timeout=120
// e2e: name=line_search_wolfe; cxx=-DFORM=1; args=12 0.8; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_after_adam; cxx=-DFORM=2; args=12 0.02; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_of_a_sum; cxx=-DFORM=3; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_in_a_class; cxx=-DFORM=4; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_over_all; cxx=-DFORM=5; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_in_front; cxx=-DFORM=6; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_of_parts; cxx=-DFORM=7; args=12 0.5; modes=global; ranks=1,2,3; timeout=120
// e2e: name=line_search_with_a_server; args=12 0.5; modes=global; env=HVD_SYNC=parameter-server; expect=ends; says=LBFGS searches by the loss of all ranks; ranks=1,3; timeout=120
// LBFGS calls back for loss and gradients as often as it likes: it is given those of all ranks, so that all make the same search.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#ifndef FORM
#define FORM 0
#endif

struct NetImpl : torch::nn::Module {
  NetImpl() {
    in = register_module("in", torch::nn::Linear(4, 6));
    out = register_module("out", torch::nn::Linear(6, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::tanh(in(x))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Net);

#if FORM == 4
// form: LBFGS in a class, whose method gives the loss to its closure
class Trainer {
 public:
  explicit Trainer(double rate) : optimizer_(net_->parameters(), torch::optim::LBFGSOptions(rate).max_iter(4).history_size(5)) {}
  double train(const torch::Tensor& x, const torch::Tensor& y) {
    auto closure = [this, &x, &y]() -> torch::Tensor {
      optimizer_.zero_grad();
      torch::Tensor loss = lossOf(x, y);
      loss.backward();
      ++calls;
      last = loss.item<double>();
      return loss;
    };
    return optimizer_.step(closure).item().toDouble();
  }
  torch::Tensor lossOf(const torch::Tensor& x, const torch::Tensor& y) { return torch::mse_loss(net_->forward(x), y); }
  Net& net() { return net_; }
  int calls = 0;
  double last = 0;

 private:
  Net net_;
  torch::optim::LBFGS optimizer_;
};
#endif

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.5;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor xs = torch::sin(torch::arange(48 * 4, torch::kDouble) * 0.9).view({48, 4}), ys = xs.sum(1, true).sin();
#if FORM == 4
  Trainer trainer(rate);
  Net net = trainer.net();
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at + size <= xs.size(0); at += size) total += trainer.train(xs.slice(0, at, at + size), ys.slice(0, at, at + size));
    std::printf("%.7f %d %.7f\n", total, trainer.calls, trainer.last);
  }
#elif FORM == 5
  Net net;
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(rate).max_iter(5));
// form: LBFGS over all samples in each step
  int evaluations = 0;
  for (int step = 0; step < 4; ++step) {
    const auto closure = [&] {
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(xs), ys) + 1e-4 * net->in->weight.square().sum();
      loss.backward();
      if (++evaluations % 5 == 0) std::printf("evaluation %d: %.7f\n", evaluations, loss.item<double>());
      return loss;
    };
    const torch::Tensor loss = optimizer.step(closure);
    std::printf("%d %.7f\n", step, loss.item<double>());
  }
#elif FORM == 6
  Net net;
  torch::nn::MSELoss criterion;
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(rate).max_iter(3));
// form: LBFGS, its closure in front of the loop of its steps
  auto closure = [&net, &optimizer, &criterion, &xs, &ys] {
    optimizer.zero_grad();
    auto loss = criterion(net->forward(xs), ys);
    loss.backward();
    return loss;
  };
  double before = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double now = optimizer.step(closure).item<double>();
    if (std::abs(before - now) < 1e-7) break;
    std::printf("%d %.7f\n", round, before = now);
  }
#elif FORM == 7
  Net net;
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(rate).max_iter(3));
  const int64_t batches = xs.size(0) / size;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(torch::data::datasets::TensorDataset(xs).map(torch::data::transforms::Stack<torch::data::TensorExample>()), static_cast<size_t>(size));
  for (int epoch = 0; epoch < 3; ++epoch) {
// form: LBFGS, whose closure goes through all batches
    auto closure = [&]() {
      optimizer.zero_grad();
      torch::Tensor total = torch::zeros({});
      for (auto& batch : *loader) {
        auto loss = torch::mse_loss(net(batch.data), batch.data.sum(1, true).sin()) / batches;
        loss.backward();
        total += loss.detach();
      }
      return total;
    };
    std::printf("%d %.7f\n", epoch, optimizer.step(closure).item<double>());
  }
#else
  Net net;
#if FORM == 1
// form: LBFGS with a line search
  auto optimizer = std::make_shared<torch::optim::LBFGS>(net->parameters(), torch::optim::LBFGSOptions(rate).max_iter(6).line_search_fn("strong_wolfe"));
#elif FORM == 2
// form: Adam first, then LBFGS
  torch::optim::Adam first(net->parameters(), torch::optim::AdamOptions(rate));
  for (int64_t at = 0; at + size <= xs.size(0); at += size) {
    first.zero_grad();
    torch::mse_loss(net(xs.slice(0, at, at + size)), ys.slice(0, at, at + size)).backward();
    first.step();
  }
  auto optimizer = std::make_unique<torch::optim::LBFGS>(net->parameters(), torch::optim::LBFGSOptions(0.7).max_iter(4));
#else
// form: LBFGS on batches, its closure a lambda
  torch::optim::LBFGS search(net->parameters(), torch::optim::LBFGSOptions(rate).max_iter(4));
  torch::optim::Optimizer* const optimizer = &search;
#endif
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at + size <= xs.size(0); at += size) {
      const torch::Tensor x = xs.slice(0, at, at + size), y = ys.slice(0, at, at + size);
      std::function<torch::Tensor()> closure = [&]() {
        optimizer->zero_grad();
#if FORM == 3
// form: LBFGS, of a loss that is a sum
        auto loss = torch::mse_loss(net(x), y, torch::Reduction::Sum);
#else
        auto loss = torch::mse_loss(net(x), y);
#endif
        loss.backward();
        return loss;
      };
      total += optimizer->step(closure).item<double>();
    }
    std::printf("%.7f\n", total);
  }
#endif
  torch::save(net, "net.pt");
}
