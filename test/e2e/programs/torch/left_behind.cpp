// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// A class has a second form of its training step, which joins lists of rows first. Nothing calls it any more.
// form: an overload of the training step that nothing calls
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

class Learner {
 public:
  explicit Learner(double rate) : net_(3, 1), optimizer_(net_->parameters(), torch::optim::SGDOptions(rate)) {}
  double learn(const std::vector<torch::Tensor>& rows, const std::vector<torch::Tensor>& wanted);
  double learn(const torch::Tensor& rows, const torch::Tensor& wanted);

 private:
  torch::nn::Linear net_;
  torch::optim::SGD optimizer_;
};

double Learner::learn(const std::vector<torch::Tensor>& rows, const std::vector<torch::Tensor>& wanted) {
  return learn(torch::stack(rows), torch::stack(wanted));
}

double Learner::learn(const torch::Tensor& rows, const torch::Tensor& wanted) {
  optimizer_.zero_grad();
  auto loss = torch::mse_loss(net_->forward(rows), wanted);
  loss.backward();
  optimizer_.step();
  return loss.item<double>();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = std::atoll(argv[1]);
  const auto x = torch::rand({44, 3}), y = x.sum(1, true).sin();
  Learner learner(std::atof(argv[2]));
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto order = torch::randperm(44);
    for (int64_t at = 0; at < 44; at += size) {
      const auto taken = order.slice(0, at, at + size);
      std::printf("%.9f\n", learner.learn(x.index_select(0, taken), y.index_select(0, taken)));
    }
  }
  return 0;
}
