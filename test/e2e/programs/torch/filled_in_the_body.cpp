// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// A class of the program's own keeps the parameters of two models in a list that its constructor's body fills. Each rank starts one of its
// layers with numbers of its own, so that the models have to be broadcast.
// form: parameters in a member that a constructor's body fills, updated by hand
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <vector>

class Momentum {
 public:
  Momentum(torch::nn::Sequential& first, torch::nn::Linear& second, double rate) : rate_(rate) {
    for (const auto& p : first->parameters()) add(p);
    for (const auto& p : second->parameters()) add(p);
  }
  void step() {
    torch::NoGradGuard guard;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      velocities_[i].mul_(0.9).add_(parameters_[i].grad());
      parameters_[i].sub_(velocities_[i] * rate_);
      parameters_[i].mutable_grad().zero_();
    }
  }

 private:
  void add(const torch::Tensor& p) {
    parameters_.push_back(p);
    velocities_.push_back(torch::zeros_like(p));
  }
  std::vector<torch::Tensor> parameters_, velocities_;
  double rate_;
};

struct Rows : torch::data::Dataset<Rows> {
  torch::Tensor x, y;
  Rows() {
    torch::manual_seed(4);
    x = torch::randn({90, 5}, torch::kFloat64);
    y = x.narrow(1, 0, 2).sum(1, true);
  }
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  c10::optional<size_t> size() const override { return 90; }
};

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), batch_size);
  torch::manual_seed(11);
  torch::nn::Sequential body(torch::nn::Linear(5, 7), torch::nn::Tanh());
  torch::nn::Linear head(7, 1);
  body->to(torch::kFloat64);
  head->to(torch::kFloat64);
  if (const char* rank = std::getenv("OMPI_COMM_WORLD_RANK")) torch::nn::init::constant_(head->bias, -0.02 * std::atoi(rank));
  else torch::nn::init::constant_(head->bias, 0.0);
  Momentum rule(body, head, rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(head->forward(body->forward(batch.data)), batch.target);
      loss.backward();
      rule.step();
      total += loss.item<double>();
      ++batches;
    }
    std::cout << epoch << " " << total / batches << "\n";
  }
  torch::save(body, "body.pt");
  torch::save(head, "head.pt");
}
