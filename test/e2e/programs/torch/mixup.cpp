// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Samples that are mixed with others of their batch, in an order that is drawn for each batch.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::sin(torch::arange(44 * 5, torch::kDouble) * 0.37).view({44, 5}), y = (x.sum(1) * 3).floor().remainder(3).to(torch::kLong);
};

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::nn::Sequential net(torch::nn::Linear(5, 8), torch::nn::ReLU(), torch::nn::Linear(8, 3));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Points().map(torch::data::transforms::Stack<>()), static_cast<size_t>(size));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (auto& batch : *loader) {
// form: mixup, in an order drawn for each batch
      const torch::Tensor order = torch::randperm(batch.data.size(0));
      const double share = 0.5 + 0.5 * torch::rand({1}).item<double>();
      const torch::Tensor mixed = share * batch.data + (1 - share) * batch.data.index_select(0, order), other = batch.target.index({order});
      const torch::Tensor out = net->forward(mixed);
      const torch::Tensor loss = share * torch::cross_entropy_loss(out, batch.target) + (1 - share) * torch::cross_entropy_loss(out, other);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
    }
    std::printf("%.9f\n", total / 44);
  }
}
