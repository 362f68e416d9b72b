// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch_size(8) => batch_size({8*N}); edit=SGDOptions(0.05) => SGDOptions({0.05*N}); ranks=1,2,3; timeout=90
// A batch of the program's own class that carries what belongs to no sample: weights of its columns.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

struct Item {
  torch::Tensor x, y, weights;
};

struct Items : torch::data::datasets::Dataset<Items, Item> {
  explicit Items(const torch::Tensor& rows) : rows_(rows) {}
  Item get(size_t i) override {
    const int64_t at = static_cast<int64_t>(i);
    return {rows_[at], torch::tanh(rows_[at].slice(0, 0, 3)), torch::arange(1, 4, torch::kDouble)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_;
};

struct Together : torch::data::transforms::Collation<Item, std::vector<Item>> {
  Item apply_batch(std::vector<Item> items) override {
    std::vector<torch::Tensor> x, y;
    for (const Item& item : items) {
      x.push_back(item.x);
      y.push_back(item.y);
    }
    return {torch::stack(x), torch::stack(y).to(torch::kDouble), items[0].weights};
  }
};

int main() {
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor rows = torch::sin(torch::arange(45 * 6, torch::kDouble) * 0.9).view({45, 6});
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Items(rows).map(Together()), torch::data::DataLoaderOptions().batch_size(8));
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0, weight = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      torch::Tensor loss = ((net->forward(batch.x) - batch.y).pow(2) * batch.weights).mean();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
// form: a tensor in a loader's batch that belongs to no sample
      weight += batch.weights.sum().item<double>();
    }
    std::printf("%.9f %.3f\n", sum, weight);
  }
}
