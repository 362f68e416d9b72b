// SPDX-License-Identifier: Apache-2.0
// e2e: hvdize=--sync-bn; modes=global; ranks=1,2,3; timeout=120
// e2e: name=batch_norm_member_warned; modes=global; ranks=2; warns=HVD2004; expect=different; timeout=120
// Batch norm in the initialiser of a member.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

struct NetImpl : torch::nn::Module {
  NetImpl() { register_module("layers", layers); }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
  torch::nn::Sequential layers{torch::nn::Linear(4, 6), torch::nn::BatchNorm1d(6), torch::nn::ReLU(), torch::nn::Linear(6, 3)};
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(3);
  auto x = torch::randn({48, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), 12);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(batch.data).pow(2).mean();
      loss.backward();
      optimizer.step();
      std::cout << std::setprecision(12) << loss.item<double>() << '\n';
    }
  torch::save(net, "net.pt");
}
