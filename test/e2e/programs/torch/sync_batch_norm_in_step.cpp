// SPDX-License-Identifier: Apache-2.0
// e2e: hvdize=--sync-bn; modes=global; ranks=1,2,3; timeout=120
// form: pictures of a fixed noise that a generator makes inside a step, in training mode
// Batch norm over the global batch: the rows that every rank makes alike are not those of several ranks.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct NetImpl : torch::nn::Module {
  NetImpl() : in(4, 6), norm(6), out(6, 1) {
    register_module("in", in);
    register_module("norm", norm);
    register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x) { return out(torch::relu(norm(in(x)))); }
  torch::nn::Linear in;
  torch::nn::BatchNorm1d norm;
  torch::nn::Linear out;
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(3);
  auto x = torch::randn({48, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), 12);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto fixed = torch::randn({5, 4}, torch::kDouble);
  int step = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(batch.data).pow(2).mean();
      loss.backward();
      optimizer.step();
      if (++step % 3 == 0) {
        auto pictures = net(fixed);
        torch::save(pictures, "pictures.pt");
        auto others = net->forward(torch::randn({5, 4}, torch::kDouble));
        torch::save((others + 1.0) / 2.0, "others.pt");
      }
    }
  std::cout << std::setprecision(12) << net->norm->running_var.sum().item<double>() << '\n';
  torch::save(net, "net.pt");
}
