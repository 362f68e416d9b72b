// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Sums that are divided by rows a loop has counted; targets and losses that may be missing; one number for the rate and the weight decay, in braces.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
// form: an optional tensor for the targets and for the loss
struct NetImpl : torch::nn::Module {
  NetImpl() { register_module("out", out); }
  std::tuple<torch::Tensor, torch::optional<torch::Tensor>> forward(const torch::Tensor& x, const torch::optional<torch::Tensor>& y = {}, const torch::Tensor* weights = nullptr) {
    const torch::Tensor scores = out->forward(x);
    torch::optional<torch::Tensor> loss;
    if (y.has_value()) {
      torch::Tensor errors = (scores - *y).pow(2);
// form: a pointer to a tensor that may be null
      if (weights != nullptr) errors = errors * *weights;
      loss = errors.sum();
    }
    return {scores, loss};
  }
  torch::nn::Linear out{4, 1};
};
TORCH_MODULE(Net);

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override {
    const torch::Tensor x = torch::arange(4, torch::kDouble).add(static_cast<double>(i)).sin();
    return {x, x.sum().unsqueeze(0)};
  }
  torch::optional<size_t> size() const override { return 45; }
};

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  Net net;
// form: one number for the learning rate and for the weight decay
  const double rate{argc > 2 ? std::stod(argv[2]) : 0.05};
  const double decay = 0.05;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(argc > 2 ? rate : decay).weight_decay(decay));
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), batch_size);
  int64_t seen = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor weights = batch.data.abs().sum(1, true);
      auto [scores, summed] = net->forward(batch.data, batch.target, &weights);
// form: rows counted in a loop over them
      double rows = 0;
      for (const auto& row : batch.data.unbind(0)) {
        (void)row;
        rows += 1;
      }
      int64_t cells = 0;
      for (int64_t i = 0; i < batch.data.size(0); ++i) ++cells;
      torch::Tensor loss = summed.value() / rows + 0.1 * scores.pow(2).sum() / cells;
      loss.backward();
      optimizer.step();
      for (const auto& row : batch.data.unbind(0)) {
        (void)row;
        ++seen;
      }
      std::printf("%.9f\n", loss.item<double>());
    }
    std::printf("epoch %d: %lld rows\n", epoch, static_cast<long long>(seen));
  }
}
