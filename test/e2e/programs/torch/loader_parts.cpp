// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N} {2*N}; ranks=1,2,3; timeout=60
// Batches of a loader that a loop takes in parts, each with its backward pass, the optimizer's step behind them.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace F = torch::nn::functional;

struct Waves : torch::data::datasets::Dataset<Waves> {
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor x = torch::sin(torch::arange(6, torch::kDouble) * 0.37 + static_cast<double>(index) * 1.1);
    return {x, torch::tensor(static_cast<int64_t>(index * 7 % 3), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return 52; }
};

static auto loader_of(int64_t size) {
  return torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(size).workers(2));
}

// form: parts of a loader's batch by narrow, as many as the gradients are gathered over
static void narrowed(int64_t size, double rate, int64_t part) {
  auto loader = loader_of(size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const int64_t parts = size / part;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      if (batch.data.size(0) < size) continue;
      optimizer.zero_grad();
      double sum = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const auto x = batch.data.narrow(0, i * part, part);
        const auto y = batch.target.narrow(0, i * part, part);
        auto loss = F::cross_entropy(net->forward(x), y) / parts;
        loss.backward();
        sum += loss.item<double>();
      }
      optimizer.step();
      std::printf("narrowed %.9f\n", sum);
    }
  torch::save(net, "narrowed.pt");
}

// form: parts of a loader's batch by slice, up to its last row, weighted by their samples
static void sliced(int64_t size, double rate, int64_t part) {
  auto loader = loader_of(size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  double total = 0;
  int64_t right = 0;
  for (auto& batch : *loader) {
    const auto x = batch.data * 0.5, y = batch.target;
    const int64_t rows = x.size(0);
    optimizer.zero_grad();
    for (int64_t at = 0; at < rows; at += part) {
      const int64_t end = std::min(at + part, rows);
      const auto out = net->forward(x.slice(0, at, end));
      auto loss = F::cross_entropy(out, y.slice(0, at, end)) * (static_cast<double>(end - at) / static_cast<double>(rows));
      loss.backward();
      total += loss.item<double>();
      right += out.argmax(1).eq(y.slice(0, at, end)).sum().item<int64_t>();
    }
    torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
    optimizer.step();
  }
  std::printf("sliced %.9f %ld\n", total, static_cast<long>(right));
  torch::save(net, "sliced.pt");
}

// form: parts of a loader's batch by split, in a function
static double by_split(torch::nn::Linear& net, const torch::Tensor& data, const torch::Tensor& target, int64_t part) {
  double sum = 0;
  const auto xs = data.split(part), ys = target.split(part);
  for (size_t i = 0; i < xs.size(); ++i) {
    auto loss = F::cross_entropy(net->forward(xs[i]), ys[i], F::CrossEntropyFuncOptions().reduction(torch::kSum)) / static_cast<double>(data.size(0));
    loss.backward();
    sum += loss.item<double>();
  }
  return sum;
}

static void split(int64_t size, double rate, int64_t part) {
  auto loader = loader_of(size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    const double loss = by_split(net, batch.data, batch.target, part);
    optimizer.step();
    std::printf("split %.9f\n", loss);
  }
  torch::save(net, "split.pt");
}

// form: parts of a loader's batch by chunk
static void chunked(int64_t size, double rate) {
  auto loader = loader_of(size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    const auto xs = batch.data.chunk(2), ys = batch.target.chunk(2);
    for (size_t i = 0; i < xs.size(); ++i) {
      auto loss = F::cross_entropy(net->forward(xs[i]), ys[i]) / 2;
      loss.backward();
    }
    optimizer.step();
  }
  torch::save(net, "chunked.pt");
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const int64_t part = argc > 3 ? std::atoll(argv[3]) : 2;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  narrowed(size, rate, part);
  sliced(size, rate, part);
  split(size, rate, part);
  chunked(size, rate);
}
