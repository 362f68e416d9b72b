// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; name=forms_data; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// How programs make their batches: one training for each form, one after another.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

namespace {

int64_t batch_size = 6;
double rate = 0.05;
constexpr int64_t kRows = 40;

torch::Tensor inputs() { return torch::sin(torch::arange(kRows * 5, torch::kDouble) * 0.73).reshape({kRows, 5}); }
torch::Tensor labels() { return torch::arange(kRows).mul(7).remainder(3); }

torch::nn::Sequential make_net(int64_t outputs) {
  torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, outputs));
  net->to(torch::kDouble);
  return net;
}

void show(const char* form, torch::nn::Sequential& net) {
  std::cout << form;
  for (const auto& p : net->parameters()) std::cout << ' ' << p.sum().item<double>();
  std::cout << std::endl;
}

// form: map-style data set
struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return kRows; }
  torch::Tensor x = inputs(), y = labels();
};

// form: data set that returns whole batches
struct Blocks : torch::data::datasets::BatchDataset<Blocks, torch::data::Example<>> {
  torch::data::Example<> get_batch(torch::ArrayRef<size_t> indices) override {
    std::vector<int64_t> wanted(indices.begin(), indices.end());
    const auto rows = torch::tensor(wanted);
    return {x.index_select(0, rows), y.index_select(0, rows)};
  }
  torch::optional<size_t> size() const override { return kRows; }
  torch::Tensor x = inputs(), y = labels();
};

// form: own sampler class
struct Backwards : torch::data::samplers::Sampler<> {
  explicit Backwards(size_t count) : count(count) {}
  void reset(torch::optional<size_t> size = torch::nullopt) override {
    if (size) count = *size;
    at = 0;
  }
  torch::optional<std::vector<size_t>> next(size_t size) override {
    if (at >= count) return torch::nullopt;
    std::vector<size_t> indices;
    for (size_t k = 0; k < size && at < count; ++k) indices.push_back(count - 1 - at++);
    return indices;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  size_t count, at = 0;
};

// form: loss divided by the number of batches
// form: loss divided by the number of samples
template <typename Loader>
void train_on(const char* form, Loader& loader) {
  torch::manual_seed(1);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  double by_batch = 0, by_sample = 0;
  size_t batches = 0, samples = 0;
  for (auto& batch : loader) {
    auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    by_batch += loss.template item<double>();
    by_sample += loss.template item<double>() * static_cast<double>(batch.target.numel());
    ++batches;
    samples += static_cast<size_t>(batch.target.size(0));
  }
  std::printf("%s: %zu batches of %zu samples, %.9f, %.9f\n", form, batches, samples, by_batch / static_cast<double>(batches),
              by_sample / static_cast<double>(samples));
  show(form, net);
}

void data_sets() {
  const auto options = torch::data::DataLoaderOptions().batch_size(batch_size);
  auto rows = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), options);
  train_on("rows", *rows);
  auto blocks = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Blocks(), options);
  train_on("blocks", *blocks);
  auto backwards = torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), Backwards(kRows), options);
  train_on("backwards", *backwards);
}

// form: own loader class that shuffles with the standard library
class Loader {
 public:
  Loader(torch::Tensor x, torch::Tensor y, int64_t size) : x_(std::move(x)), y_(std::move(y)), size_(size), order_(static_cast<size_t>(x_.size(0))) {
    std::iota(order_.begin(), order_.end(), 0);
  }
  void reset() {
    std::shuffle(order_.begin(), order_.end(), generator_);
    position_ = 0;
  }
  bool has_next() const { return position_ < static_cast<int64_t>(order_.size()); }
  std::pair<torch::Tensor, torch::Tensor> next() {
    const auto end = std::min(position_ + size_, static_cast<int64_t>(order_.size()));
    const std::vector<int64_t> picked(order_.begin() + position_, order_.begin() + end);
    position_ = end;
    const auto index = torch::tensor(picked, torch::kLong);
    return {x_.index_select(0, index), y_.index_select(0, index)};
  }

 private:
  torch::Tensor x_, y_;
  int64_t size_, position_ = 0;
  std::vector<int64_t> order_;
  std::mt19937 generator_{11};
};

void own_loader() {
  torch::manual_seed(2);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  Loader loader(inputs(), labels(), batch_size);
  for (int epoch = 0; epoch < 2; ++epoch) {
    loader.reset();
    while (loader.has_next()) {
      auto [x, y] = loader.next();
      auto loss = F::cross_entropy(net->forward(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  show("own loader", net);
}

// form: own shuffle with rand()
// form: index loop with randperm and index_select
void shuffled_by_hand() {
  torch::manual_seed(3);
  std::srand(5);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const auto x = inputs(), y = labels();
  std::vector<int64_t> order(kRows);
  std::iota(order.begin(), order.end(), 0);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[static_cast<size_t>(std::rand()) % (i + 1)]);
    const auto permutation = epoch == 0 ? torch::tensor(order) : torch::randperm(kRows);
    for (int64_t at = 0; at < kRows; at += batch_size) {
      const auto picked = permutation.slice(0, at, std::min(at + batch_size, kRows));
      auto loss = F::cross_entropy(net->forward(x.index_select(0, picked)), y.index_select(0, picked));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  show("shuffled", net);
}

// form: synthetic batches drawn in the loop
void synthetic() {
  torch::manual_seed(4);
  auto net = make_net(1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int step = 0; step < 6; ++step) {
    auto x = torch::randn({batch_size, 5}, torch::kDouble);
    auto y = x.sum(1, true).tanh();
    auto loss = torch::mse_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << "synthetic " << loss.item<double>() << '\n';
  }
  show("synthetic", net);
}

// form: batch_size used again for views, buffers and loss scaling
void size_again() {
  torch::manual_seed(5);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const auto x = inputs(), y = labels();
  for (int64_t at = 0; at + batch_size <= kRows; at += batch_size) {
    auto rows = x.slice(0, at, at + batch_size).view({batch_size, 5});
    auto hot = torch::zeros({batch_size, 3}, torch::kDouble);
    hot.scatter_(1, y.slice(0, at, at + batch_size).view({batch_size, 1}), 1.0);
    auto scores = torch::log_softmax(net->forward(rows), 1);
    auto loss = -(hot * scores).sum() / static_cast<double>(batch_size);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << "size " << loss.item<double>() << ' ' << loss.item<double>() * static_cast<double>(batch_size) << '\n';
  }
  show("size", net);
}

// form: gradient accumulation
// form: vector of batches
void micro_batches() {
  torch::manual_seed(6);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const auto x = inputs(), y = labels();
  constexpr int kParts = 2;
  for (int64_t at = 0; at < kRows; at += batch_size) {
    optimizer.zero_grad();
    const auto end = std::min(at + batch_size, kRows);
    const auto xs = x.slice(0, at, end), ys = y.slice(0, at, end);
    for (int part = 0; part < kParts; ++part) {
      auto scores = net->forward(xs * (part == 0 ? 1.0 : 0.5));
      auto loss = F::cross_entropy(scores, ys) / kParts;
      loss.backward();
    }
    optimizer.step();
  }
  show("micro", net);
}

// form: hand-made one-hot targets
// form: correct counter by rows
void counters() {
  torch::manual_seed(7);
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const auto x = inputs(), y = labels();
  int64_t right = 0, seen = 0;
  std::vector<int64_t> predictions;
  for (int64_t at = 0; at < kRows; at += batch_size) {
    const auto xs = x.slice(0, at, std::min(at + batch_size, kRows)), ys = y.slice(0, at, std::min(at + batch_size, kRows));
    auto scores = net->forward(xs);
    auto loss = F::mse_loss(torch::softmax(scores, 1), F::one_hot(ys, 3).to(torch::kDouble));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    right += (scores.argmax(1) == ys).sum().item().toLong();
    seen += xs.size(0);
    std::printf("%3d%% accuracy %.4f\n", static_cast<int>(100 * seen / kRows), 100.0 * static_cast<double>(right) / static_cast<double>(seen));
  }
  show("counters", net);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) batch_size = std::atol(argv[1]), rate = std::atof(argv[2]);
  std::cout.precision(11);
  data_sets();
  own_loader();
  shuffled_by_hand();
  synthetic();
  size_again();
  micro_batches();
  counters();
  return 0;
}
