// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N} {0.1/N}; ranks=1,2,3; timeout=120
// Two trainings of one program, one of a mean and one of a sum, whose rates come from one number: each optimizer scales it by the rule of its own losses.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct Waves : torch::data::Dataset<Waves> {
  explicit Waves(int64_t n) : n(n) {}
  torch::data::Example<> get(size_t i) override {
    const double k = static_cast<double>(i);
    return {torch::sin(torch::arange(6, torch::kDouble) * (k + 1)), torch::cos(torch::arange(2, torch::kDouble) * k)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(n); }
  int64_t n;
};

int main(int, char** argv) {
  const int64_t batch_size = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]), share = std::atof(argv[3]);
  torch::manual_seed(5);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  torch::nn::Sequential mean_net(torch::nn::Linear(6, 7), torch::nn::Tanh(), torch::nn::Linear(7, 2));
  torch::nn::Sequential sum_net(torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(52).map(torch::data::transforms::Stack<>()), batch_size);
// form: optimizers that follow means and optimizers that follow sums, in loops of their own
  torch::optim::SGD by_means(mean_net->parameters(), rate);
  torch::optim::SGD by_sums(sum_net->parameters(), rate * share);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    double total = 0;
    int64_t seen = 0;
    for (auto& batch : *loader) {
      by_means.zero_grad();
      auto loss = torch::mse_loss(mean_net->forward(batch.data), batch.target);
      loss.backward();
      by_means.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
      seen += batch.data.size(0);
    }
    std::printf("means, epoch %d: loss %.10f\n", epoch, total / static_cast<double>(seen));
  }
  for (int epoch = 1; epoch <= 3; ++epoch) {
    double total = 0;
    for (auto& batch : *loader) {
      by_sums.zero_grad();
      auto loss = torch::smooth_l1_loss(sum_net->forward(batch.data), batch.target, at::Reduction::Sum);
      loss.backward();
      by_sums.step();
      total += loss.item<double>();
    }
    std::printf("sums, epoch %d: loss %.10f\n", epoch, total / 52);
  }
}
