// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
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
