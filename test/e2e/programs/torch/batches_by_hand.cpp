// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=rate = 0.1 => rate = {0.1*N}; ranks=1,2,3; timeout=120
// form: batches taken from a loader by hand
// Batches taken from a loader one by one: an iterator that begins anew when the data has run out, a while loop over one pass, the first batch
// of a new pass in every step, and a look at the first batch outside of training.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {x[at], y[at]};
  }
  torch::optional<size_t> size() const override { return 42; }  // the last batch has 2 rows
  torch::Tensor x = torch::randn({42, 5}, torch::kDouble), y = torch::arange(42).remainder(3);
};

int main() {
  const int64_t batch = 8;
  const double rate = 0.1;
  torch::manual_seed(3);
  auto set = Points().map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(set, torch::data::DataLoaderOptions(batch));
  auto ordered = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(set, torch::data::DataLoaderOptions(batch).workers(1));
  torch::nn::Sequential net(torch::nn::Linear(5, 16), torch::nn::Tanh(), torch::nn::Linear(16, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  std::cout << std::setprecision(12) << "first " << (*loader->begin()).data.sum().item<double>() << '\n';

  const auto learn = [&](const torch::Tensor& x, const torch::Tensor& y) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };

  auto next = loader->begin();
  double total = 0;
  int64_t seen = 0, hits = 0;
  for (int step = 0; step < 15; ++step) {
    if (next == loader->end()) next = loader->begin();
    auto sample = *next;
    ++next;
    optimizer.zero_grad();
    auto out = net->forward(sample.data);
    auto loss = F::cross_entropy(out, sample.target);
    loss.backward();
    optimizer.step();
    total += loss.item<double>() * sample.data.size(0);
    seen += sample.data.size(0);
    hits += out.argmax(1).eq(sample.target).sum().item<int64_t>();
    if (step % 5 == 4) std::cout << "step " << step << ' ' << total / seen << ' ' << hits << " of " << seen << '\n';
  }

  for (int epoch = 0; epoch < 2; ++epoch) {
    auto it = ordered->begin();
    while (it != ordered->end()) {
      std::cout << "pass " << learn(it->data, it->target) << '\n';
      ++it;
    }
  }

  for (int step = 0; step < 3; ++step) {
    auto [x, y] = *loader->begin();
    std::cout << "anew " << learn(x, y) << '\n';
  }
  torch::save(net, "net.pt");
}
