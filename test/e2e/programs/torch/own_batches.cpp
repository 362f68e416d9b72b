// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Batches of the program's own class, which a loader hands out; batches taken from the parts of a list, fold by fold.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

// One class for a sample and for a batch of them.
struct Pair {
  torch::Tensor left, right, alike;
};

struct Pairs : torch::data::datasets::Dataset<Pairs, Pair> {
  explicit Pairs(const torch::Tensor& rows) : rows_(rows) {}
  Pair get(size_t i) override {
    const int64_t n = rows_.size(0), at = static_cast<int64_t>(i), other = (3 * at + 1) % n;
    return {rows_[at], rows_[other], (rows_[at][0] * rows_[other][0] > 0).to(torch::kDouble)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_;
};

struct Together : torch::data::transforms::Collation<Pair, std::vector<Pair>> {
  Pair apply_batch(std::vector<Pair> pairs) override {
    std::vector<torch::Tensor> left, right, alike;
    for (const Pair& pair : pairs) {
      left.push_back(pair.left);
      right.push_back(pair.right);
      alike.push_back(pair.alike);
    }
    return {torch::stack(left), torch::stack(right), torch::stack(alike)};
  }
};

struct Fold {
  torch::Tensor x, y, held_x, held_y;
};

static std::vector<Fold> folds_of(const torch::Tensor& x, const torch::Tensor& y, int64_t count) {
  std::vector<Fold> folds;
  for (int64_t f = 0; f < count; ++f) {
    std::vector<int64_t> kept, held;
    for (int64_t i = 0; i < x.size(0); ++i) (i % count == f ? held : kept).push_back(i);
    const torch::Tensor here = torch::tensor(kept), there = torch::tensor(held);
    folds.push_back({x.index_select(0, here), y.index_select(0, here), x.index_select(0, there), y.index_select(0, there)});
  }
  return folds;
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::sin(torch::arange(45 * 6, torch::kDouble) * 0.9).view({45, 6}), y = x.sum(1, true).tanh();
// form: a loader whose batches are of the program's own class
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Pairs(x).map(Together()), torch::data::DataLoaderOptions().batch_size(static_cast<size_t>(size)));
  torch::nn::Linear embedding(6, 4);
  torch::optim::SGD optimizer(embedding->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t near = 0, seen = 0;
    for (auto& pairs : *loader) {
      const torch::Tensor gap = (embedding->forward(pairs.left) - embedding->forward(pairs.right)).norm(2, 1);
      const torch::Tensor loss = (pairs.alike * gap.pow(2) + (1 - pairs.alike) * torch::relu(1 - gap).pow(2)).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(pairs.left.size(0));
      near += (gap < 0.5).sum().item<int64_t>();
      seen += pairs.left.size(0);
    }
    std::printf("%.9f %lld of %lld\n", sum / static_cast<double>(seen), static_cast<long long>(near), static_cast<long long>(seen));
  }
// form: folds in a list, and batches of positions in one of them
  const std::vector<Fold> folds = folds_of(x, y, 3);
  for (size_t f = 0; f < folds.size(); ++f) {
    torch::nn::Linear net(6, 1);
    torch::optim::SGD steps(net->parameters(), torch::optim::SGDOptions(rate));
    std::stringstream best;
    for (int epoch = 0; epoch < 2; ++epoch) {
      const torch::Tensor order = torch::randperm(folds[f].x.size(0));
      for (int64_t at = 0; at < order.size(0); at += size) {
        const torch::Tensor part = order.slice(0, at, std::min(at + size, order.size(0)));
        steps.zero_grad();
        torch::mse_loss(net->forward(folds[f].x.index_select(0, part)), folds[f].y.index_select(0, part)).backward();
        steps.step();
      }
// form: batches by index, with an interval
      for (int64_t at = 0; at < folds[f].x.size(0); at += size) {
        const torch::Tensor few = folds[f].x.index({torch::indexing::Slice(at, at + size)}), wanted = folds[f].y.index({torch::indexing::Slice(at, at + size)});
        steps.zero_grad();
        torch::mse_loss(net->forward(few), wanted).backward();
        steps.step();
      }
      torch::NoGradGuard off;
      std::printf("fold %zu: %.9f\n", f, torch::mse_loss(net->forward(folds[f].held_x), folds[f].held_y).item<double>());
      if (epoch == 0) torch::save(net, best);
    }
    torch::load(net, best);
    std::printf("%.9f\n", net->weight.sum().item<double>());
  }
}
