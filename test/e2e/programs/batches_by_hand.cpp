// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=rate = 0.1 => rate = {0.1*N}
// Batches taken from a loader one by one, through a lambda that begins anew when the data has run out, in a while loop over one pass, and from two loaders in one step.
#include <hvd/hvd.hpp>

#include <iomanip>
#include <iostream>
#include <memory>

namespace F = hvd::nn::functional;

int main() {
  const int batch = 8;
  const double rate = 0.1;
  hvd::manual_seed(3);
  auto set = std::make_shared<hvd::data::datasets::Digits>(42, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(batch).workers(2));
  hvd::nn::Linear net(784, 10);
  net->to(hvd::kFloat64);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9));

  const auto learn = [&](const hvd::Tensor& data, const hvd::Tensor& target) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(data.flatten(1).to(hvd::kFloat64)), target);
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };

  auto it = loader->begin();
  const auto draw = [&] {
    if (it == loader->end()) it = loader->begin();
    auto next = *it;
    ++it;
    return next;
  };
  std::cout << std::setprecision(12);
  for (int step = 0; step < 15; ++step) {
    auto sample = draw();
    std::cout << "step " << step << ' ' << learn(sample.data, sample.target) << '\n';
  }
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    auto at = loader->begin();
    while (at != loader->end()) {
      total += learn(at->data, at->target) * at->data.size(0);
      ++at;
    }
    std::cout << "epoch " << epoch << ' ' << total / set->size() << '\n';
  }
  // Two loaders side by side: in a loop over one of them, and by two iterators in the head of one loop.
  auto more = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(batch));
  const auto both = [&](const hvd::Tensor& x, const hvd::Tensor& y, const hvd::Tensor& u, const hvd::Tensor& v) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(x.flatten(1).to(hvd::kFloat64)), y) + F::cross_entropy(net->forward(u.flatten(1).to(hvd::kFloat64)), v);
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };
  auto second = more->begin();
  for (auto& sample : *loader) {
    if (second == more->end()) second = more->begin();
    std::cout << "beside " << both(sample.data, sample.target, second->data, second->target) << '\n';
    ++second;
  }
  auto a = loader->begin();
  auto b = more->begin();
  for (; a != loader->end() && b != more->end(); ++a, ++b) std::cout << "both " << both(a->data, a->target, b->data, b->target) << '\n';
  hvd::save(net, "net.safetensors");
}
