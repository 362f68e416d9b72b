// SPDX-License-Identifier: Apache-2.0
// e2e: edit=s.rows = 6 => s.rows = {6*N}; edit=s.rate = 0.02 => s.rate = {0.02*N}; ranks=1,2,3; timeout=120
// One function goes over a loader, with an optimizer or without one. The sizes stand in a record, which is empty first and is then filled. What evaluation gets stays
// as it is, and the mean over its batches, the last of which is smaller, shows it.
// form: one function for a pass with or without an optimizer, and a size of batches for each in a record
#include <torch/torch.h>

#include <cstdio>

struct Settings {
  int rows{}, held_rows{}, epochs{};
  int checked_rows = 0;
  double rate{};
};

static Settings choose() {
  Settings s;
  s.rows = 6;
  s.held_rows = 8;
  s.checked_rows = 14;
  s.epochs = 2;
  s.rate = 0.02;
  return s;
}

struct Waves : torch::data::datasets::Dataset<Waves> {
  explicit Waves(double from) : from(from) {}
  torch::data::Example<> get(size_t i) override {
    auto x = torch::full({3}, from + 0.1 * static_cast<double>(i)) * torch::arange(1, 4);
    return {x.sin(), x.cos().sum(0, true)};
  }
  torch::optional<size_t> size() const override { return 36; }
  double from;
};

template <typename Loader>
static double pass(torch::nn::Sequential& net, Loader& loader, torch::optim::Optimizer* optimizer) {
  net->train(optimizer != nullptr);
  torch::AutoGradMode mode(optimizer != nullptr);
  double sum = 0;
  int batches = 0;
  for (auto& batch : loader) {
    if (optimizer) optimizer->zero_grad();
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    if (optimizer) {
      loss.backward();
      optimizer->step();
    }
    sum += loss.template item<double>();
    ++batches;
  }
  return sum / batches;
}

int main() {
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const Settings s = choose();
  const int last_rows = 10;
  auto seen = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(s.rows));
  auto held = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(5).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(s.held_rows));
  auto checked = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(9).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(s.checked_rows));
  auto last = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(12).map(torch::data::transforms::Stack<>()), last_rows);
  auto small = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(15).map(torch::data::transforms::Stack<>()), 5);
  torch::nn::Sequential net(torch::nn::Linear(3, 8), torch::nn::Tanh(), torch::nn::Linear(8, 1));
  torch::optim::SGD optimizer(net->parameters(), s.rate);
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    const double a = pass(net, *seen, &optimizer);
    const double b = pass(net, *held, nullptr), c = pass(net, *checked, nullptr);
    std::printf("%.9f %.9f %.9f\n", a, b, c);
    std::printf("%.9f %.9f\n", pass(net, *last, nullptr), pass(net, *small, nullptr));
  }
  torch::save(net, "net.pt");
  return 0;
}
