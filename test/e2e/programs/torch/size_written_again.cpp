// SPDX-License-Identifier: Apache-2.0
// e2e: edit=DataLoaderOptions(8) => DataLoaderOptions({8*N}); edit=SGDOptions(0.05) => SGDOptions({0.05*N}); edit=size(0) != 8 => size(0) != {8*N}; edit=view({8, 5}) => view({-1, 5}); edit=step * 8 => step * {8*N}; edit=seen += 8; => seen += {8*N};; ranks=1,2,3; timeout=60; sample=all
// A batch size that the program writes as a number wherever it needs it.
#include <torch/torch.h>

#include <cstdio>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 52; }
  torch::Tensor x = torch::sin(torch::arange(52 * 5, torch::kDouble) * 0.37).view({52, 5}), y = x.sum(1, true).tanh();
};

int main() {
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::nn::Linear net(5, 1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  int64_t seen = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    int step = 0;
    for (auto& batch : *loader) {
// form: a batch that is not whole is left out, by a number
      if (batch.data.size(0) != 8) continue;
      optimizer.zero_grad();
// form: the size of a batch as a number in a shape
      const torch::Tensor loss = torch::mse_loss(net->forward(batch.data.view({8, 5})), batch.target);
      loss.backward();
      optimizer.step();
// form: samples counted by a number
      seen += 8;
      std::printf("[%d/52] %.9f\n", step * 8, loss.item<double>());
      ++step;
    }
  }
  std::printf("%lld\n", static_cast<long long>(seen));
  const torch::Tensor table = torch::arange(8.0).view({8, 1});  // another 8
  std::printf("%.9f\n", table.sum().item<double>() * static_cast<double>(table.size(0)));
}
