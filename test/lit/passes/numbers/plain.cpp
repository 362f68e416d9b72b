// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- mean.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: total += hvd::batch_mean(loss.item<double>()) * hvd::global(batch.data.size(0));
// CHECK: rows += hvd::global(batch.data.size(0));
// CHECK: if (hvd::is_root()) std::cout << total / rows << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0;
  int64_t rows = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    total += loss.item<double>() * batch.data.size(0);
    rows += batch.data.size(0);
  }
  std::cout << total / rows << "\n";
}
//--- sum_and_extrema.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: correct += hvd::batch_sum(out.argmax(1).eq(batch.target).sum().item<int64_t>());
// CHECK: largest = std::max(largest, hvd::batch_max(out.max().item<double>()));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int64_t correct = 0;
  double largest = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    hvd::nn::functional::cross_entropy(out, batch.target).backward();
    opt.step();
    correct += out.argmax(1).eq(batch.target).sum().item<int64_t>();
    largest = std::max(largest, out.max().item<double>());
  }
  std::cout << correct << " " << largest << "\n";
}
//--- carried.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// What is carried on from step to step is whole: the slices of the steps differ.
// CHECK: average = hvd::batch_mean(average * 0.9 + loss.detach() * 0.1);
// CHECK: hits = hits + hvd::batch_sum(out.argmax(1).eq(batch.target).sum());
// CHECK: total.add_(hvd::batch_mean(loss.detach()));
// CHECK: if (hvd::is_root()) std::cout << average.item<double>()
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto average = hvd::zeros({1}), hits = hvd::zeros({1}), total = hvd::zeros({1});
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    average = average * 0.9 + loss.detach() * 0.1;
    hits = hits + out.argmax(1).eq(batch.target).sum();
    total.add_(loss.detach());
    std::cout << average.item<double>() << hits.item<double>() << total.item<double>() << "\n";
  }
}
//--- whole_numbers.cpp
#include <hvd/hvd.hpp>

#include <iostream>
#include <random>
#include <vector>

#include "parts.h"

// Numbers made for the whole batch, then cut; a table repeated for this rank's rows.
// CHECK: std::vector<double> noise(hvd::global(batch.data.size(0)) * 8);
// CHECK: auto noisy = batch.data + hvd::shard(hvd::tensor(noise).view({hvd::global(batch.data.size(0)), 8}));
// CHECK: auto shifted = noisy + shift.expand({batch.data.size(0), 8});
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  auto shift = hvd::zeros({1, 8});
  for (auto& batch : *loader) {
    opt.zero_grad();
    std::vector<double> noise(batch.data.size(0) * 8);
    for (double& x : noise) x = normal(engine);
    auto noisy = batch.data + hvd::tensor(noise).view({batch.data.size(0), 8});
    auto shifted = noisy + shift.expand({batch.data.size(0), 8});
    hvd::nn::functional::cross_entropy(net(shifted), batch.target).backward();
    opt.step();
  }
}
//--- noise.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// Noise on the gradients is the same on all ranks, whether it is drawn anew or into a tensor.
// CHECK: p.mutable_grad().add_(hvd::whole_draw().keep(hvd::randn(p.sizes())) * 0.01);
// CHECK: hvd::whole_draw().keep(noise.normal_(0, 0.01));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    for (auto& p : net->parameters()) {
      hvd::NoGradGuard guard;
      p.mutable_grad().add_(hvd::randn(p.sizes()) * 0.01);
      auto noise = hvd::zeros(p.sizes());
      noise.normal_(0, 0.01);
      p.add_(noise);
    }
    opt.step();
  }
}
//--- asked_again.cpp
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

#include "parts.h"

// A number asked for several times is reduced once, where it is computed in any case.
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
// CHECK: const auto hvd_loss = hvd::batch_mean(loss.item<double>());
// CHECK-NEXT: if (std::isnan(hvd_loss)) break;
// CHECK: total += hvd_loss;
// CHECK: if (step % 10 == 0) { if (hvd::is_root()) std::printf("%g\n", hvd_loss); }
// CHECK-NEXT: if (hvd_loss < best) best = hvd_loss;
// CHECK: const auto hvd_hits = hvd::batch_sum(hits.item<int64_t>());
// CHECK-NEXT: correct += hvd_hits, last = hvd_hits;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double total = 0, best = 1e9;
  int64_t correct = 0, last = 0;
  int step = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    if (std::isnan(loss.item<double>())) break;
    opt.step();
    total += loss.item<double>();
    if (step % 10 == 0) { std::printf("%g\n", loss.item<double>()); }
    if (loss.item<double>() < best) best = loss.item<double>();
    auto hits = net(batch.data).argmax(1).eq(batch.target).sum();
    correct += hits.item<int64_t>(), last = hits.item<int64_t>();
    ++step;
  }
  std::cout << total << " " << best << " " << correct << " " << last << "\n";
}
//--- asked_again_of_another.cpp
#include <hvd/hvd.hpp>

#include <cstdio>
#include <iostream>

#include "parts.h"

// Not the same number: changed in between, behind a condition, of another type, by a second name of the tensor.
// CHECK: first += hvd::batch_mean(loss.item<double>());
// CHECK: loss = loss * 2;
// CHECK: second += hvd::batch_mean(loss.item<double>());
// CHECK: if (step % 10 == 0) hvd::root_only(std::printf)("%g\n", hvd::batch_mean(other.item<double>()));
// CHECK: if (step % 10 == 1) hvd::root_only(std::printf)("%g\n", hvd::batch_mean(other.item<double>()));
// CHECK: first += hvd::batch_mean(third.item<double>());
// CHECK: second += hvd::batch_mean(third.item<float>());
// CHECK: first += hvd::batch_mean(fourth.item<double>());
// CHECK: second += hvd::batch_mean(fourth.item<double>());
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double first = 0, second = 0;
  int step = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    first += loss.item<double>();
    loss = loss * 2;
    second += loss.item<double>();
    auto other = loss_of(net, batch);
    if (step % 10 == 0) std::printf("%g\n", other.item<double>());
    if (step % 10 == 1) std::printf("%g\n", other.item<double>());
    auto third = loss_of(net, batch);
    first += third.item<double>();
    second += third.item<float>();
    auto fourth = loss_of(net, batch).detach();
    auto alias = fourth;
    first += fourth.item<double>();
    alias.mul_(0.5);
    second += fourth.item<double>();
    ++step;
  }
  std::cout << first << " " << second << "\n";
}
//--- by_class.cpp
#include <hvd/hvd.hpp>

#include <cstdio>
#include <map>

#include "parts.h"

// What sums up the rows by their labels does not change them: they are gathered once.
// CHECK: const auto hvd_labels = hvd::gather(labels);
// CHECK-NEXT: const auto hvd_losses = hvd::gather(losses);
// CHECK-NEXT: for (int64_t i = 0; i < hvd::global(labels.size(0)); ++i) sums[hvd_labels[i].item<int64_t>()] += hvd_losses[i].item<float>();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::map<int64_t, double> sums;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto labels = batch.target;
    auto losses = -hvd::log_softmax(net(batch.data), 1).gather(1, labels.view({-1, 1})).view({-1});
    losses.mean().backward();
    opt.step();
    for (int64_t i = 0; i < labels.size(0); ++i) sums[labels[i].item<int64_t>()] += losses[i].item<float>();
  }
  for (const auto& [label, sum] : sums) std::printf("%ld %f\n", static_cast<long>(label), sum);
}
//--- single_samples.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// Samples that the host picks are those of the whole batch. A loop that reads rows gathers them once, before it.
// CHECK: const auto hvd_labels = hvd::gather(labels);
// CHECK-NEXT: const auto hvd_predicted = hvd::gather(predicted);
// CHECK-NEXT: for (int64_t i = 0; i < hvd::global(labels.size(0)); ++i) {
// CHECK-NEXT: const int64_t answer = hvd_labels[i].item<int64_t>();
// CHECK-NEXT: if (hvd_predicted[i].item<int64_t>() == answer) ++correct;
// CHECK: if (answer == hvd_labels[0].item<int64_t>()) ++like_the_first;
// CHECK: for (int k = 0; k < 3; ++k) {
// CHECK-NEXT: total += hvd::gather(shown)[0].item<int64_t>();
// CHECK: hvd::root_stream(std::cout) << hvd::gather(labels)[0].item<int64_t>() << hvd::gather(out)[1] << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int correct = 0, like_the_first = 0;
  int64_t total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto labels = batch.target;
    auto out = net(batch.data);
    hvd::nn::functional::cross_entropy(out, labels).backward();
    opt.step();
    auto predicted = out.argmax(1);
    for (int64_t i = 0; i < labels.size(0); ++i) {
      const int64_t answer = labels[i].item<int64_t>();
      if (predicted[i].item<int64_t>() == answer) ++correct;
      if (answer == labels[0].item<int64_t>()) ++like_the_first;
    }
    auto shown = labels;
    for (int k = 0; k < 3; ++k) {
      total += shown[0].item<int64_t>();
      shown = predicted;
    }
    std::cout << labels[0].item<int64_t>() << out[1] << "\n";
  }
  std::cout << correct << " " << like_the_first << " " << total << "\n";
}
//--- shared_helper.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: hvd::root_stream(std::cout) << accuracy(net, batch.data, batch.target) << "\n";
// CHECK-NEXT: hvd::root_stream(std::cout) << hvd::outside_step().keep(accuracy(net, x, y)) << "\n";
double accuracy(Net& net, const hvd::Tensor& x, const hvd::Tensor& y) {
  return net(x).argmax(1).eq(y).sum().item<int64_t>() / static_cast<double>(x.size(0));
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto x = hvd::randn({7, 8});
  auto y = hvd::randint(0, 3, {7});
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    std::cout << accuracy(net, batch.data, batch.target) << "\n";
    std::cout << accuracy(net, x, y) << "\n";  // says: HVD1037
  }
}
