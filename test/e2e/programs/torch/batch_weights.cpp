// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 12 => kBatch = {12*N}; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); timeout=120
// Weights of losses that are computed from the batch at hand: as options, through the host, detached from the network; and rows with weights.
// form: class weights computed from the batch, as an option
#include <torch/torch.h>

#include <cstdio>
#include <vector>

namespace F = torch::nn::functional;

constexpr int64_t kBatch = 12;

struct Points : torch::data::Dataset<Points> {
  explicit Points(int64_t n) : x(torch::randn({n, 6}, torch::kDouble)), y(torch::randint(0, 4, {n}, torch::kLong)) {}
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
  torch::Tensor x, y;
};

int main() {
  torch::manual_seed(11);
  torch::nn::Linear net(6, 4);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  auto loader = torch::data::make_data_loader(Points(67).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(kBatch));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double shown = 0;
    for (auto& batch : *loader) {
      const auto out = net(batch.data);
      const auto truth = torch::one_hot(batch.target, 4).to(torch::kDouble);

      // Rare classes of this batch count more.
      const auto counts = torch::bincount(batch.target, {}, 4).to(torch::kDouble);
      const auto rare = counts.sum() / (counts + 1);
      auto loss = F::cross_entropy(out, batch.target, F::CrossEntropyFuncOptions().weight(rare));

      F::BinaryCrossEntropyWithLogitsFuncOptions options;
      options.pos_weight(truth.sum(0) + 1);
      auto positive = F::binary_cross_entropy_with_logits(out, truth, options);

      const double ones = truth.sum().item<double>();
      const auto ratio = torch::full({4}, (truth.numel() - ones) / ones, torch::kDouble);
      positive = positive + F::binary_cross_entropy_with_logits(out, truth, F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(ratio));

      const auto each = F::cross_entropy(out, batch.target, F::CrossEntropyFuncOptions().reduction(torch::kNone));
      const auto sure = torch::softmax(out, 1).select(1, 0).detach();
      auto weighted = (each * sure).sum() / sure.sum();
      weighted = weighted + 0.1 * torch::sum((out - truth).pow(2).view({-1, 2, 2}), {1, 2}).mean();

      // One number for each sample of the batch, made by the host.
      std::vector<double> heavy;
      for (int64_t i = 0; i < batch.target.size(0); ++i) heavy.push_back(batch.target[i].item<int64_t>() == 2 ? 3.0 : 0.5 + 0.01 * static_cast<double>(i));
      weighted = weighted + (each * torch::tensor(heavy, torch::kDouble)).mean();

      optimizer.zero_grad();
      loss.backward({}, true);
      positive.backward({}, true);
      weighted.backward();
      optimizer.step();
      shown += weighted.item<double>();
    }
    std::printf("%d %.10f\n", epoch, shown);
  }
  for (const auto& p : net->parameters()) std::printf("%.12f\n", p.sum().item<double>());
}
