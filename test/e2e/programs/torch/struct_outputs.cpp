// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// A model that returns a record and gets labels if there are some, batches drawn by a permutation or stacked by hand, samples that get another name
// while they are read, a loss whose reduction is set on its options; and in front of it all a condition with a comment behind it.
#if UNKNOWN_SWITCH  // off
#define OFF 1
#elif __has_include(<optional>)
#include <optional>
#endif
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Outputs {
  torch::Tensor scores, value, loss;
};

struct NetImpl : torch::nn::Module {
  NetImpl() {
    body = register_module("body", torch::nn::Linear(6, 5));
    head = register_module("head", torch::nn::Linear(5, 3));
    value = register_module("value", torch::nn::Linear(5, 1));
  }
  Outputs forward(torch::Tensor x, c10::optional<torch::Tensor> labels = c10::nullopt) {
    const auto features = torch::tanh(body(x));
    const auto scores = head(features);
    torch::Tensor loss;
    if (labels.has_value()) loss = torch::cross_entropy_loss(scores, labels.value());
    return {scores, value(features), loss};
  }
  torch::nn::Linear body{nullptr}, head{nullptr}, value{nullptr};
};
TORCH_MODULE(Net);

// A class whose name has "map" in it is no map.
struct Roadmap {
  double operator[](const std::string& name) const { return name == "weight" ? 0.5 : 0; }
};

struct Rows : torch::data::datasets::Dataset<Rows> {
  Rows() : images(torch::sin(torch::arange(40 * 6, torch::kDouble)).reshape({40, 2, 3})) {}
  torch::data::Example<> get(size_t i) override {
    torch::Tensor image = images[static_cast<int64_t>(i)].clone();
    image = image.permute({1, 0});
    image = image.to(torch::kFloat).reshape({-1}).mul_(2).to(torch::kDouble);
    return {image, torch::tensor(static_cast<int64_t>(i % 3))};
  }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor images;
};

struct Sample {
  std::vector<double> state;
  double outcome;
};

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(1);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const Roadmap settings;

  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(size));
  for (auto& batch : *loader) {
    const Outputs out = net->forward(batch.data, batch.target);
    optimizer.zero_grad();
    out.loss.backward();
    optimizer.step();
    std::printf("labels %.10f at %ld\n", out.loss.item<double>(), static_cast<long>(out.scores.argmax().item<int64_t>()));
  }

  const auto states = torch::cos(torch::arange(40 * 6, torch::kDouble)).reshape({40, 6});
  for (int step = 0; step < 3; ++step) {
    const auto rows = torch::randperm(40, torch::kLong).slice(0, 0, size);
    const auto out = net->forward(states.index_select(0, rows));
    auto loss = settings["weight"] * out.value.pow(2).mean() + out.scores.pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("permutation %.10f\n", loss.item<double>());
  }

  for (int step = 0; step < 3; ++step) {
    const auto rows = torch::multinomial(torch::arange(1, 41, torch::kDouble), size, true);
    auto loss = net->forward(states.index_select(0, rows)).value.pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("multinomial %.10f\n", loss.item<double>());
  }

  std::vector<Sample> samples;
  for (int i = 0; i < 40; ++i) samples.push_back({{0.1 * i, 1, 0.5, -0.1 * i, 0.2, 0.3}, i % 3 - 1.0});
  torch::nn::MSELoss squares;
  squares->options.reduction(torch::kMean);
  for (int64_t i = 0; i + size <= 40; i += size) {
    std::vector<torch::Tensor> inputs;
    std::vector<double> outcomes;
    for (int64_t j = i; j < i + size; ++j) {
      inputs.push_back(torch::tensor(samples[static_cast<size_t>(j)].state, torch::kDouble));
      outcomes.push_back(samples[static_cast<size_t>(j)].outcome);
    }
    const auto wanted = torch::tensor(outcomes, torch::kDouble).unsqueeze(1);
    const Outputs out = net->forward(torch::stack(inputs));
    auto loss = squares->forward(out.value, wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("stacked %.10f\n", loss.item<double>());
  }
  torch::save(net, "net.pt");
}
