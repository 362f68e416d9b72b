// SPDX-License-Identifier: Apache-2.0
// Steps that use all samples: each rank takes its rows where a step reads the tensors that hold them, and nowhere else.
// RUN: %golden
//--- beside.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK-LABEL: int main
// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
// CHECK: auto mean = x.mean(0);
// CHECK: for (int step = 0; step < 20; ++step) {
// CHECK-NEXT: hvd::StepScope hvd_step;
// CHECK: auto out = net((hvd::shard(x) - mean) * scale);
// CHECK: auto error = (out - hvd::shard(wanted)).pow(2) * hvd::shard(importance);
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
// CHECK: hvd::root_only(std::printf)("%f of %d\n", hvd::batch_mean(loss.item<float>()), static_cast<int>(x.size(0)));
// CHECK: hvd::root_only(std::printf)("%f\n", net(x - mean).mean().item<float>());
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), wanted = hvd::randn({40, 3}), importance = hvd::randn({40, 1}), scale = hvd::randn({8});
  auto mean = x.mean(0);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    auto out = net((x - mean) * scale);
    auto error = (out - wanted).pow(2) * importance;
    auto loss = error.mean();
    loss.backward();
    opt.step();
    std::printf("%f of %d\n", loss.item<float>(), static_cast<int>(x.size(0)));
  }
  std::printf("%f\n", net(x - mean).mean().item<float>());
}
//--- handed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// What a function may change is cut there, what it has for itself is cut where it is handed over.
// CHECK-LABEL: void train_once
// CHECK: auto loss = hvd::nn::functional::cross_entropy(net(x), hvd::shard(y));
void train_once(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, hvd::Tensor& y) {
  opt.zero_grad();
  auto loss = hvd::nn::functional::cross_entropy(net(x), y);
  loss.backward();
  opt.step();
}

// CHECK-LABEL: int main
// CHECK: train_once(net, opt, hvd::shard(x), y);
// CHECK: auto right = net(x_test).argmax(1).eq(y_test).sum().item<int64_t>();
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randint(0, 3, {40});
  hvd::Tensor x_test = hvd::randn({12, 8}), y_test = hvd::randint(0, 3, {12});
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    train_once(net, opt, x, y);
    auto right = net(x_test).argmax(1).eq(y_test).sum().item<int64_t>();
    std::printf("%d right\n", static_cast<int>(right));
  }
}
//--- objects.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

struct Data {
  hvd::Tensor x, y;
};

Data make(int64_t rows) { return {hvd::randn({rows, 8}), hvd::randint(0, 3, {rows})}; }

// What serves several objects stays whole; where samples are those of the steps, the members of that object are cut.
// CHECK-LABEL: double error
// CHECK: return hvd::nn::functional::cross_entropy(net(d.x), d.y).item<double>();
double error(Net& net, const Data& d) { return hvd::nn::functional::cross_entropy(net(d.x), d.y).item<double>(); }

// CHECK-LABEL: int main
// CHECK: auto loss = hvd::nn::functional::cross_entropy(net(hvd::shard(train.x)), hvd::shard(train.y));
// CHECK: auto held = hvd::nn::functional::cross_entropy(net(test.x), test.y);
// CHECK: hvd::root_only(std::printf)("%f %f %f\n", held.item<double>(), error(net, train), error(net, test));
// CHECK: auto loss = hvd::nn::functional::cross_entropy(net(hvd::shard(rows.first)), hvd::shard(rows.second));
int main() {
  Data train = make(40), test = make(12);
  auto rows = std::make_pair(hvd::randn({30, 8}), hvd::randint(0, 3, {30}));
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(train.x), train.y);
    loss.backward();
    opt.step();
    auto held = hvd::nn::functional::cross_entropy(net(test.x), test.y);
    std::printf("%f %f %f\n", held.item<double>(), error(net, train), error(net, test));
  }
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(rows.first), rows.second);
    loss.backward();
    opt.step();
  }
}
//--- lists.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// What a list is made of in the step is cut there; the same item of a list in all steps, and what stands beside it, are all samples, too.
// CHECK: hvd::Tensor joined(const std::vector<hvd::Tensor>& in) { return hvd::cat({in[0], in[1]}, 1); }
hvd::Tensor joined(const std::vector<hvd::Tensor>& in) { return hvd::cat({in[0], in[1]}, 1); }

// CHECK-LABEL: int main
// CHECK: auto loss = hvd::nn::functional::cross_entropy(net(joined({hvd::shard(a), hvd::shard(b)})), hvd::shard(y));
// CHECK: auto loss = hvd::nn::functional::cross_entropy(net(hvd::shard(rows[0])), hvd::shard(y));
int main() {
  hvd::Tensor a = hvd::randn({40, 6}), b = hvd::randn({40, 2}), y = hvd::randint(0, 3, {40});
  std::vector<hvd::Tensor> rows{hvd::randn({40, 8})};
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(joined({a, b})), y);
    loss.backward();
    opt.step();
  }
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(rows[0]), y);
    loss.backward();
    opt.step();
  }
}
//--- trained_rows.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// What is trained may have a row for each sample: a rank with a single one would not notice.
int main() {
  hvd::Tensor x = hvd::randn({40, 8}), y = hvd::randn({40, 3}), offset = hvd::zeros({40, 3});
  offset.requires_grad_();
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1)), other({offset}, hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 20; ++step) {
    opt.zero_grad();
    other.zero_grad();
    hvd::nn::functional::mse_loss(net(x) + offset, y).backward();  // refused: HVD3021
    opt.step();
    other.step();
  }
}
