// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- after.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: auto test = hvd::data::make_data_loader<hvd::Sharded<hvd::data::SequentialSampler>>(samples(15), hvd::data::DataLoaderOptions(4));
// CHECK: for (auto& batch : hvd::steps(*test)) {
// CHECK-NEXT: correct += hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>());
// CHECK-NEXT: rows += hvd::global(batch.data.size(0));
// CHECK: if (hvd::is_root()) std::cout << static_cast<double>(correct) / rows << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0, rows = 0;
  const hvd::NoGradGuard no_grad;
  for (auto& batch : *test) {  // says: HVD1010
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  std::cout << static_cast<double>(correct) / rows << "\n";
}
//--- best.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// What all ranks compute alike may decide.
// CHECK: if (loss < best) {
// CHECK-NEXT: best = loss;
// CHECK: if (++bad == 3) break;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  double best = 1e30;
  int bad = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    double loss = 0;
    for (auto& batch : *test) loss += loss_of(net, batch).item<double>();
    if (loss < best) {
      best = loss;
      bad = 0;
      continue;
    }
    if (++bad == 3) break;
  }
}
//--- same_loader.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: for (auto& batch : hvd::steps(*loader)) {
// CHECK: for (auto& batch : hvd::steps(*loader)) correct += hvd::batch_sum(
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0;
  for (auto& batch : *loader) correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << correct << "\n";
}
//--- asked.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// HVDIZE: --evaluation=whole
// CHECK: make_data_loader<hvd::data::SequentialSampler>(samples(15)
// CHECK: for (auto& batch : *test) {
// CHECK-NEXT: correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
// CHECK-NEXT: rows += batch.data.size(0);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0, rows = 0;
  for (auto& batch : *test) {  // says: HVD1012
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  std::cout << static_cast<double>(correct) / rows << "\n";
}
//--- look.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// A look at one batch, outside of training: all ranks see all of it.
// CHECK: const auto first = *test->begin();
// CHECK-NEXT: if (hvd::is_root()) std::cout << first.target << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  const auto first = *test->begin();
  std::cout << first.target << "\n";
}
//--- rows.cpp
#include <hvd/hvd.hpp>

#include <vector>

#include "parts.h"

// What a loop only collects is wanted whole.
// CHECK: for (auto& batch : hvd::steps(*test)) guesses.push_back(hvd::gather(net(batch.data).argmax(1)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::vector<hvd::Tensor> guesses;
  for (auto& batch : *test) guesses.push_back(net(batch.data).argmax(1));
  return hvd::cat(guesses).size(0) == 15 ? 0 : 1;
}
//--- container.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// A class of one's own around the framework's container has the container's forward: nothing about it is unseen.
struct StackImpl : hvd::nn::SequentialImpl {
  StackImpl() {
    push_back(hvd::nn::Linear(8, 16));
    push_back(hvd::nn::Linear(16, 3));
  }
};
HVD_MODULE(Stack);

// CHECK: for (auto& batch : hvd::steps(*test)) correct += hvd::batch_sum(net(batch.data).argmax(1)
int main() {
  Stack net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), batch.target).backward();
    opt.step();
  }
  int64_t correct = 0;
  for (auto& batch : *test) correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << correct << "\n";
}
//--- whole.cpp
// What keeps an evaluation whole: each loop here is left as it is, and the message says why (see the texts in HVD1012).
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

struct NoisyImpl : hvd::nn::Module {
  NoisyImpl() : drop(register_module("drop", hvd::nn::Dropout(0.5))), out(register_module("out", hvd::nn::Linear(8, 3))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(drop(x)); }
  hvd::nn::Dropout drop;
  hvd::nn::Linear out;
};
HVD_MODULE(Noisy);

// The mode is set after training, and not set back: shared out.
// CHECK-LABEL: double in_evaluation_mode(
// CHECK: for (auto& batch : hvd::steps(loader))
double in_evaluation_mode(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  net->eval();
  for (auto& batch : loader) sum += net(batch.data).sum().item<double>();
  return sum;
}

// CHECK-LABEL: double by_the_caller(
// CHECK: for (auto& batch : hvd::steps(loader))
double by_the_caller(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  for (auto& batch : loader) sum += net(batch.data).sum().item<double>();
  return sum;
}

// CHECK-LABEL: double by_one_caller_only(
// CHECK: for (auto& batch : loader)
double by_one_caller_only(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  for (auto& batch : loader) sum += net(batch.data).sum().item<double>();  // says: HVD1012
  return sum;
}

// CHECK-LABEL: double back_in_training(
// CHECK: for (auto& batch : loader)
double back_in_training(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (i == 0) net->eval();
    for (auto& batch : loader) sum += net(batch.data).sum().item<double>();  // says: HVD1012
    net->train();
  }
  return sum;
}

// CHECK-LABEL: double other_model(
// CHECK: for (auto& batch : loader)
double other_model(Noisy& net, Noisy& other, hvd::data::DataLoader& loader) {
  double sum = 0;
  other->eval();
  for (auto& batch : loader) sum += net(batch.data).sum().item<double>();  // says: HVD1012
  return sum;
}

// CHECK-LABEL: double draws(
// CHECK: for (auto& batch : loader)
double draws(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  net->eval();
  for (auto& batch : loader) sum += net(batch.data + hvd::randn({8})).sum().item<double>();  // says: HVD1012
  return sum;
}

// CHECK-LABEL: double mixes(
// CHECK: for (auto& batch : loader)
double mixes(Noisy& net, hvd::data::DataLoader& loader) {
  double sum = 0;
  net->eval();
  for (auto& batch : loader) {  // says: HVD1012
    const auto scores = net(batch.data);
    sum += (scores - scores.mean(0)).pow(2).sum().item<double>();
  }
  return sum;
}

int main() {
  Noisy net, other;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  auto single = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(5), hvd::data::DataLoaderOptions(1));
  std::cout << by_one_caller_only(net, *test) << "\n";
  // CHECK: for (auto& batch : hvd::steps(*loader)) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), batch.target).backward();
    opt.step();
  }
  std::cout << in_evaluation_mode(net, *test) << " " << back_in_training(net, *test) << " " << other_model(net, other, *test) << " "
            << draws(net, *test) << " " << mixes(net, *test) << "\n";
  net->eval();
  std::cout << by_the_caller(net, *test) << " " << by_one_caller_only(net, *test) << "\n";
  // CHECK: for (auto& batch : *single)
  for (auto& batch : *single) std::cout << net(batch.data).sum().item<double>() << "\n";  // says: HVD1012
}
