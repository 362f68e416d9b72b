// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; args=8 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// An optimizer of the program's own that has its parameters in a std::vector.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

class SignMomentum {
 public:
  SignMomentum(std::vector<hvd::Tensor> parameters, double rate) : parameters_(std::move(parameters)), rate_(rate) {
    for (const hvd::Tensor& p : parameters_) averages_.push_back(hvd::zeros_like(p));
  }
  void zero_grad() {
    for (hvd::Tensor& p : parameters_)
      if (p.grad().defined()) p.mutable_grad().zero_();
  }
  void step() {
    hvd::NoGradGuard guard;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const hvd::Tensor blend = averages_[i] * 0.9 + parameters_[i].grad() * 0.1;
      parameters_[i].sub_(blend / (blend.abs() + 1e-2) * rate_);
      averages_[i].mul_(0.99).add_(parameters_[i].grad(), 0.01);
    }
  }

 private:
  std::vector<hvd::Tensor> parameters_, averages_;
  double rate_;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(11);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({61, 4}), hvd::randint(3, {61})), hvd::data::DataLoaderOptions(static_cast<size_t>(batch)));
  hvd::nn::Linear net(4, 3);
  SignMomentum optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (auto& b : *loader) {
      const hvd::Tensor loss = hvd::nn::functional::cross_entropy(net->forward(b.data), b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("%d %.9f\n", epoch, total);
  }
  hvd::save(net, "net.safetensors");
}
