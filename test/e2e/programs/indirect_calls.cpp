// SPDX-License-Identifier: Apache-2.0
// e2e: name=indirect_ignore; args=ignore; edit=batch_size = 8 => batch_size = {8*N}; edit=SGDOptions(0.1) => SGDOptions({0.1*N}); ranks=1,2,3; timeout=60
// e2e: name=indirect_plain; args=ce; modes=global; ranks=1,3; timeout=60
// Losses and callbacks behind std::function and pointers: members, tables, results of functions, lambdas that take functions.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace F = hvd::nn::functional;
using hvd::Tensor;

using LossFn = std::function<Tensor(const Tensor&, const Tensor&)>;
static Tensor ce(const Tensor& o, const Tensor& t) { return F::cross_entropy(o, t); }
static LossFn pick(const std::string& name) {
  if (name == "ce") return ce;
  return [](const Tensor& o, const Tensor& t) { return F::cross_entropy(o, t, F::CrossEntropyFuncOptions().ignore_index(1)); };
}
struct Trainer {
  LossFn loss_fn;
  hvd::nn::Sequential& net;
  std::vector<std::function<void(int, double)>> callbacks;
  std::map<std::string, LossFn> table;
  int count = 0;
  double step(hvd::optim::Optimizer& opt, const hvd::data::Batch& b) {
    opt.zero_grad();
    auto out = net->forward(b.data);
    auto loss = loss_fn(out, b.target) + table.at("sq")(out, b.target);
    loss.backward();
    opt.step();
    for (auto& f : callbacks) f(count, loss.item<double>());
    ++count;
    return loss.item<double>();
  }
};
int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const int64_t n = 49;
  const int64_t batch_size = 8;
  auto x = hvd::randn({n, 5});
  auto c = x.matmul(hvd::randn({5, 3})).argmax(1);
  hvd::nn::Sequential net(hvd::nn::Linear(5, 7), hvd::nn::Tanh(), hvd::nn::Linear(7, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::cout.precision(11);
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, c), hvd::data::DataLoaderOptions(batch_size));

  Trainer t{pick(argc > 1 ? argv[1] : "ignore"), net, {}, {{"sq", [](const Tensor& o, const Tensor& t) { return (o - F::one_hot(t, 3).to(hvd::kFloat64)).pow(2).mean(); }}}};
  t.callbacks.push_back([](int i, double l) { std::cout << i << " callback " << l << "\n"; });
  double worst = 0;
  t.callbacks.push_back([&](int, double l) { worst = std::max(worst, l); });
  Tensor (*plain)(const Tensor&, const Tensor&) = &ce;
  auto body = [&](const hvd::data::Batch& b, const std::function<double(double)>& map) {
    opt.zero_grad();
    auto loss = plain(net->forward(b.data), b.target);
    loss.backward();
    opt.step();
    return map(loss.item<double>());
  };
  std::function<double(const Tensor&, const Tensor&)> accuracy = [](const Tensor& o, const Tensor& t) {
    return o.argmax(1).eq(t).sum().item<int64_t>() * 1.0 / o.size(0);
  };
  for (auto& b : *loader) std::cout << t.step(opt, b) << " " << body(b, [](double v) { return std::exp(v); }) << "\n";
  std::cout << worst << " " << accuracy(net->forward(x), c) << "\n";
  for (auto& b : *loader) {
    opt.zero_grad();
    auto out = net->forward(b.data);
    t.loss_fn(out, b.target).backward();
    opt.step();
    std::cout << accuracy(out, b.target) << "\n";
  }
  hvd::save(net, "net.safetensors");
}
