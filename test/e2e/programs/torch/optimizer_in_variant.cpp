// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.03*N**0.5}; ranks=1,2,3; timeout=120
// A class that holds one of two optimizers by value of a variant, chosen by name, and reaches it with std::visit.
// form: one of several optimizers in a std::variant, with std::monostate before it is chosen
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

struct Slope : torch::data::datasets::Dataset<Slope> {
  torch::data::Example<> get(size_t i) override {
    auto x = torch::tensor({0.1 * static_cast<double>(i % 7), 0.02 * static_cast<double>(i)}, torch::kDouble);
    return {x, (x * torch::tensor({1.5, -0.5}, torch::kDouble)).sum(0, true)};
  }
  torch::optional<size_t> size() const override { return 42; }
};

class Fit {
 public:
  Fit(torch::nn::Sequential net, const std::string& rule, double rate) : net_(net) {
    if (rule == "adagrad") rule_ = std::make_unique<torch::optim::Adagrad>(net_->parameters(), torch::optim::AdagradOptions(0.5 * rate));
    else rule_ = std::make_unique<torch::optim::AdamW>(net_->parameters(), torch::optim::AdamWOptions(rate));
  }
  double step(const torch::data::Example<>& batch) {
    net_->zero_grad();
    auto loss = torch::l1_loss(net_->forward(batch.data), batch.target);
    loss.backward();
    std::visit([](auto& rule) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(rule)>, std::monostate>) rule->step();
    }, rule_);
    return loss.item<double>();
  }

 private:
  torch::nn::Sequential net_;
  std::variant<std::monostate, std::unique_ptr<torch::optim::Adagrad>, std::unique_ptr<torch::optim::AdamW>> rule_;
};

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.03;
  torch::manual_seed(21);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Slope().map(torch::data::transforms::Stack<>()), rows);
  for (const char* rule : {"adagrad", "adamw"}) {
    torch::nn::Sequential net(torch::nn::Linear(2, 5), torch::nn::Tanh(), torch::nn::Linear(5, 1));
    net->to(torch::kDouble);
    Fit fit(net, rule, rate);
    for (int epoch = 0; epoch < 2; ++epoch) {
      double sum = 0;
      for (auto& batch : *loader) sum += fit.step(batch);
      std::printf("%s %d %.9f\n", rule, epoch, sum);
    }
    torch::save(net, std::string(rule) + ".pt");
  }
}
