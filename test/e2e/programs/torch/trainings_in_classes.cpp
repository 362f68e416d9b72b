// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N} {0.002}; ranks=1,2,3; timeout=120
// Two trainers as classes, one of a mean and one of a sum: each rate has the rule of the losses that its own optimizer follows.
#include <torch/torch.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
struct Waves : torch::data::Dataset<Waves> {
  explicit Waves(int64_t n) : n(n) {}
  torch::data::Example<> get(size_t i) override { const double k = static_cast<double>(i); return {torch::sin(torch::arange(6, torch::kDouble) * (k + 1)), torch::cos(torch::arange(2, torch::kDouble) * k)}; }
  torch::optional<size_t> size() const override { return static_cast<size_t>(n); }
  int64_t n;
};
class Regression {
 public:
  explicit Regression(double lr) : optimizer_(net_->parameters(), torch::optim::SGDOptions(lr)) {}
  template <class Loader> double epoch(Loader& loader) {
    double total = 0; int64_t n = 0;
    for (auto& batch : loader) {
      const auto loss = torch::mse_loss(net_->forward(batch.data), batch.target);
      total += update(loss) * static_cast<double>(batch.data.size(0)); n += batch.data.size(0);
    }
    return total / static_cast<double>(n);
  }
 private:
  double update(const torch::Tensor& loss) { optimizer_.zero_grad(); loss.backward(); optimizer_.step(); return loss.item<double>(); }
  torch::nn::Sequential net_{torch::nn::Linear(6, 7), torch::nn::Tanh(), torch::nn::Linear(7, 2)};
  torch::optim::SGD optimizer_;
};
class Reconstruction {
 public:
  explicit Reconstruction(double lr) { optimizer_ = std::make_unique<torch::optim::SGD>(net_->parameters(), lr); }
  template <class Loader> double epoch(Loader& loader) {
    double total = 0;
    for (auto& batch : loader) {
      optimizer_->zero_grad();
      const auto loss = torch::mse_loss(net_->forward(batch.data), batch.data, at::Reduction::Sum);
      loss.backward();
      optimizer_->step();
      total += loss.template item<double>();
    }
    return total / 52;
  }
 private:
  torch::nn::Sequential net_{torch::nn::Linear(6, 3), torch::nn::Tanh(), torch::nn::Linear(3, 6)};
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};
int main(int, char** argv) {
  torch::manual_seed(3);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(52).map(torch::data::transforms::Stack<>()), std::atoi(argv[1]));
  Regression a(std::atof(argv[2]));
  Reconstruction b(std::atof(argv[3]));
  for (int epoch = 0; epoch < 3; ++epoch) std::printf("%d: %.10f", epoch, a.epoch(*loader)), std::printf(" %.10f\n", b.epoch(*loader));
}
