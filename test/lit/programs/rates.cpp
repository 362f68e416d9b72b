// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Learning rates that a program computes: each addend, bound and alternative is an absolute rate, and is scaled once.
//--- cosine.cpp
#include <cmath>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: const double highest = hvd::scaled_lr(0.1), lowest = hvd::scaled_lr(0.001);
// CHECK: opt.set_lr(lowest + 0.5 * (highest - lowest) * (1 + std::cos(3.14 * epoch / 3)));
int main() {
  Net net;
  const double highest = 0.1, lowest = 0.001;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(highest));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(lowest + 0.5 * (highest - lowest) * (1 + std::cos(3.14 * epoch / 3)));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
  }
}
//--- difference.cpp
#include <algorithm>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: opt.set_lr(std::max(opt.lr() - hvd::scaled_lr(0.02), hvd::scaled_lr(0.001)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    opt.set_lr(std::max(opt.lr() - 0.02, 0.001));
  }
}
//--- scheduler.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

double base = 0.1;

// CHECK: double highest_;
// CHECK: optimizer.set_lr(highest_ / (1 + ++steps_));
struct Schedule {
  double highest_;
  int steps_ = 0;
  void apply(hvd::optim::Optimizer& optimizer) { optimizer.set_lr(highest_ / (1 + ++steps_)); }
};

// CHECK: hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(base)));
// CHECK: Schedule schedule{hvd::scaled_lr(base)};
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(base));
  Schedule schedule{base};
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    schedule.apply(opt);
  }
}
//--- made.cpp
#include <memory>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Settings {
  double rate = 0.1;
};

// CHECK: auto opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::scaled_lr(settings.rate));
// CHECK-NEXT: hvd::broadcast(net, opt);
// CHECK: more.push_back(std::make_unique<hvd::optim::SGD>(head->parameters(), hvd::scaled_lr(0.2)));
// CHECK-NEXT: hvd::broadcast(head, more.back());
int main() {
  Net net, head;
  Settings settings;
  auto opt = std::make_unique<hvd::optim::SGD>(net->parameters(), settings.rate);
  std::vector<std::unique_ptr<hvd::optim::Optimizer>> more;
  more.push_back(std::make_unique<hvd::optim::SGD>(head->parameters(), 0.2));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    for (auto& o : more) o->zero_grad();
    auto loss = loss_of(net, batch) + loss_of(head, batch);
    loss.backward();
    opt->step();
    for (auto& o : more) o->step();
  }
}

//--- own_rule.cpp
#include <cmath>

#include <hvd/hvd.hpp>

#include "parts.h"

double rate_for(double base, long batch) { return base * static_cast<double>(batch) / 256; }

// The program's own rule for larger batches is not applied twice; an inverse of the batch size is no such rule.
// CHECK: hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate_for(0.1, batch_size)));
// CHECK: hvd::optim::SGD other(net->parameters(), hvd::optim::SGDOptions(0.1 * std::sqrt(batch_size / 64.0)));
// CHECK: hvd::optim::SGD third(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1 / batch_size)));
int main() {
  Net net;
  const long batch_size = 10;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate_for(0.1, batch_size)));  // says: HVD1027
  hvd::optim::SGD other(net->parameters(), hvd::optim::SGDOptions(0.1 * std::sqrt(batch_size / 64.0)));  // says: HVD1027
  hvd::optim::SGD third(net->parameters(), hvd::optim::SGDOptions(0.1 / batch_size));  // says: HVD1023
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(batch_size));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    other.step();
    third.step();
  }
}
//--- shown.cpp
#include <cmath>
#include <iostream>

#include <hvd/hvd.hpp>

#include "parts.h"

double rate_of(int epoch, double width) { return std::pow(width, -0.5) / (1 + epoch); }

// CHECK: opt.set_lr(hvd::scaled_lr(rate_of(epoch, 256)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.set_lr(rate_of(epoch, 256));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    std::cout << "rate " << rate_of(epoch, 256) << '\n';  // says: HVD2016
  }
}
//--- tables.cpp
#include <cstdio>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

constexpr double kLate[] = {0.3, 0.03};

void fit(Net& net, double rate) {
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

// What is printed is what is used, however the table is read.
// CHECK: const std::vector<double> rates = {hvd::scaled_lr(0.1), hvd::scaled_lr(0.01)};
// CHECK: std::printf("rate %g\n", rate);
// CHECK: fit(net, rate);
// CHECK: made.push_back(hvd::scaled_lr(0.2 / i));
// CHECK: std::printf("rate %g\n", made[i]);
// CHECK: fit(net, made[i]);
// CHECK: std::printf("rate %g\n", hvd::scaled_lr(kLate[i]));
// CHECK: fit(net, hvd::scaled_lr(kLate[i]));
int main() {
  Net net;
  const std::vector<double> rates = {0.1, 0.01};
  for (double rate : rates) {
    std::printf("rate %g\n", rate);
    fit(net, rate);
  }
  std::vector<double> made;
  for (int i = 1; i < 3; ++i) made.push_back(0.2 / i);
  for (size_t i = 0; i < made.size(); ++i) {
    std::printf("rate %g\n", made[i]);
    fit(net, made[i]);
  }
  for (int i = 0; i < 2; ++i) {
    std::printf("rate %g\n", kLate[i]);
    fit(net, kLate[i]);
  }
}
//--- search.cpp
#include <cmath>

#include <hvd/hvd.hpp>

#include "parts.h"

// From one rate to another one by equal factors: both ends are scaled, the factor is not.
// CHECK: const double factor = std::pow(hvd::scaled_lr(highest) / lowest, 1.0 / 10);
double search(Net net, double lowest, double highest) {
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lowest));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const double factor = std::pow(highest / lowest, 1.0 / 10);
  double rate = lowest;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    opt.set_lr(rate *= factor);
  }
  return rate;
}

// CHECK: search(Net(), hvd::scaled_lr(1e-4), 0.1)
int main() { return search(Net(), 1e-4, 0.1) > 0 ? 0 : 1; }
