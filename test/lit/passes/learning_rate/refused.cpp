// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- mixed.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"


int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();  // refused: HVD3025
    net(batch.data).pow(2).sum().backward();
    opt.step();
  }
}
//--- two_rules.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

template <class Optimizer>
void train() {
  Net net;
  Optimizer opt(net->parameters(), 0.1);  // refused: HVD3015
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

int main() {
  train<hvd::optim::SGD>();
  train<hvd::optim::Adam>();
}
//--- looked_up.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include <algorithm>

#include "parts.h"

double next(double rate) { return std::max(rate * 0.5, 0.001); }

int main() {
  const double lr = 0.1;
  Net net, other;
  hvd::optim::SGD opt(net->parameters(), lr);
  hvd::optim::Adam second(other->parameters(), lr);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (hvd::optim::Optimizer* o : {static_cast<hvd::optim::Optimizer*>(&opt), static_cast<hvd::optim::Optimizer*>(&second)})
    for (auto& batch : *loader) {
      opt.zero_grad();
      second.zero_grad();
      loss_of(o == &opt ? net : other, batch).backward();
      o->step();
      const double then = next(o->lr());
      o->set_lr(then);  // refused: HVD3015
    }
}
//--- taken_over.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

struct Config {
  double rate = 0.1;
};

int main() {
  Config config, now;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(config.rate));  // refused: HVD3029
  now.rate = opt.lr();
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    now.rate *= 0.9;
    opt.set_lr(now.rate);
  }
}
//--- follows_both.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();  // refused: HVD3025
    opt.step();
  }
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).pow(2).sum().backward();
    opt.step();
  }
}
//--- divided_at_times.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

int main(int argc, char**) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const long size = 10;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(size));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).sum();
    if (argc > 1) loss = loss / static_cast<double>(size);
    loss.backward();  // refused: HVD3025
    opt.step();
  }
}
//--- multiplied_at_times.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

int main(int argc, char**) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const long size = 10;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(size));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).mean();
    if (argc > 1) loss.mul_(static_cast<double>(size));
    loss.backward();  // refused: HVD3025
    opt.step();
  }
}
//--- difference_of_totals.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  long seen = 0;
  for (auto& batch : *loader) {
    const long before = seen;
    seen += batch.data.size(0);
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).sum() / static_cast<double>(seen - before);
    loss.backward();  // refused: HVD3025
    opt.step();
  }
}
//--- kept_in_an_object.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include <cmath>

#include "parts.h"

struct Scale {
  explicit Scale(long rows) : root(std::sqrt(static_cast<double>(rows))) {}
  double root;
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const long size = 10;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(size));
  const Scale scale(size);
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).sum() / scale.root;
    loss.backward();  // refused: HVD3025
    opt.step();
  }
}
//--- counted_by_words.cpp
// HVDIZE: --batch=per-rank
#include <hvd/hvd.hpp>

#include <string>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const long size = 10;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(size));
  const std::string marks(static_cast<size_t>(size), '*');
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).sum() / static_cast<double>(marks.size());
    loss.backward();  // refused: HVD3025
    opt.step();
  }
}
