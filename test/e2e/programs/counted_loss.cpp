// SPDX-License-Identifier: Apache-2.0
// e2e: name=counted; args=; scaled={6*N} {0.05*N}; timeout=60
// e2e: name=counted_slices_without_terms; args=; scaled={6*N} {0.05*N}; cxx=-DLABELLED_EVERY=4; timeout=60
// e2e: name=counted_with_shares; args=; scaled={6*N} {0.05*N}; env=HVD_SHARES=3,1,2; ranks=1,3; timeout=60
// Means over counted terms: ignored labels, class weights (given as options and by a loss module), and a quotient of two sums.
#include <hvd/hvd.hpp>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

#ifndef LABELLED_EVERY
#define LABELLED_EVERY 0
#endif

using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

class Points : public hvd::data::Dataset {
 public:
  explicit Points(size_t labelled_every) : every_(labelled_every) {}
  hvd::data::Example get(size_t i) override {
    const double a = std::sin(0.7 * static_cast<double>(i)), b = std::cos(1.3 * static_cast<double>(i));
    const int64_t label = every_ == 0 ? (i % 5 == 1 ? -1 : (a > b ? 1 : (a > 0 ? 2 : 0))) : (i % every_ == 0 ? 1 : -1);
    return {hvd::tensor({a, b}, hvd::kFloat64), hvd::tensor(label)};
  }
  size_t size() const override { return 50; }

 private:
  size_t every_;
};

struct NetImpl : nn::Module {
  NetImpl() {
    a = register_module("a", nn::Linear(2, 8));
    b = register_module("b", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) { return b->forward(a->forward(x).tanh()); }
  nn::Linear a{nullptr}, b{nullptr};
};
HVD_MODULE(Net);

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const int batch = argc > 1 ? std::stoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.05;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(std::make_shared<Points>(LABELLED_EVERY), hvd::data::DataLoaderOptions(batch));
  const Tensor weights = hvd::tensor({1.0, 2.5, 0.5}, hvd::kFloat64);
  const auto options = F::CrossEntropyFuncOptions().ignore_index(-1).weight(weights);
  nn::CrossEntropyLoss criterion(nn::CrossEntropyLossOptions().ignore_index(-1));
  std::cout << std::setprecision(10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch_of : *loader) {
      const Tensor scores = net->forward(batch_of.data);
      const Tensor y = batch_of.target;
      opt.zero_grad();
      if (epoch == 0) {
        const Tensor weighted = F::cross_entropy(scores, y, options);
        weighted.backward();
        std::cout << weighted.item<double>() << '\n';
      } else if (epoch == 1) {
        const Tensor plain = criterion(scores, y);
        plain.backward();
        std::cout << plain.item<double>() << '\n';
      } else {
        const Tensor mask = y.ne(-1).to(hvd::kFloat64);
        const Tensor squares = scores.square().sum(1);
        const Tensor counted = mask.sum();
        const Tensor quotient = (squares * mask).sum() / counted;
        quotient.backward();
        std::cout << quotient.item<double>() << '\n';
      }
      opt.step();
    }
  }
  hvd::save(net, "net.safetensors");
  return 0;
}
