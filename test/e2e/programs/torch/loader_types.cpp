// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.1*N}; ranks=1,2,3; timeout=120
// The types of loaders are written out, with their samplers: of a member, behind an alias, of a parameter, and in a class template that is
// told its sampler.
// form: loader whose type is written out
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

namespace data = torch::data;

struct Blobs : data::datasets::Dataset<Blobs> {
  explicit Blobs(size_t n) : n(n) {}
  data::Example<> get(size_t i) override {
    const auto k = static_cast<int64_t>(i % 3);
    auto x = torch::full({4}, static_cast<double>(k) - 1.0, torch::kDouble) + 0.7 * torch::sin(torch::arange(4, torch::kDouble) * 0.8 + static_cast<double>(i));
    return {x, torch::tensor(k)};
  }
  torch::optional<size_t> size() const override { return n; }
  size_t n;
};

using Stacked = data::datasets::MapDataset<Blobs, data::transforms::Stack<>>;
using TestLoader = std::unique_ptr<torch::data::StatelessDataLoader<Stacked, torch::data::samplers::SequentialSampler>>;

template <typename Set, typename Sampler>
class Feed {
 public:
  using Loader = torch::data::StatelessDataLoader<Set, Sampler>;
  Feed(Set set, size_t batch) : loader_(data::make_data_loader<Sampler>(std::move(set), batch)) {}
  Loader& loader() { return *loader_; }

 private:
  std::unique_ptr<Loader> loader_;
};

double fitted(torch::nn::Linear& net, torch::optim::Optimizer& opt, data::StatelessDataLoader<Stacked, data::samplers::RandomSampler>& loader) {
  double total = 0;
  int batches = 0;
  for (auto& batch : loader) {
    opt.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    opt.step();
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

class Trainer {
 public:
  Trainer(size_t batch, double rate)
      : net_(4, 3),
        train_(data::make_data_loader(Blobs(50).map(data::transforms::Stack<>()), batch)),
        test_(data::make_data_loader<data::samplers::SequentialSampler>(Blobs(20).map(data::transforms::Stack<>()), 8)),
        more_(Blobs(31).map(data::transforms::Stack<>()), batch),
        opt_(net_->parameters(), rate) {
    net_->to(torch::kDouble);
  }

  void run() {
    for (int epoch = 1; epoch <= 2; ++epoch) {
      const double loss = fitted(net_, opt_, *train_);
      const double more = fitted(net_, opt_, more_.loader());
      std::cout << "epoch " << epoch << ": " << loss << ", then " << more << ", right " << right() << '\n';
    }
    torch::save(net_, "net.pt");
  }

 private:
  int64_t right() {
    torch::NoGradGuard no_grad;
    int64_t sum = 0;
    for (auto& batch : *test_) sum += net_(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    return sum;
  }

  torch::nn::Linear net_;
  std::unique_ptr<torch::data::StatelessDataLoader<Stacked, torch::data::samplers::RandomSampler>> train_;
  TestLoader test_;
  Feed<Stacked, data::samplers::RandomSampler> more_;
  torch::optim::SGD opt_;
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(8);
  std::cout.precision(11);
  Trainer(static_cast<size_t>(std::atol(argv[1])), std::atof(argv[2])).run();
}
