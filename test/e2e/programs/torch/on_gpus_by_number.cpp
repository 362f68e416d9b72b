// SPDX-License-Identifier: Apache-2.0
// e2e: gpus=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// The first GPU named by its number wherever one is needed, in no variable; and a model that lies on the host until a checkpoint is read onto the GPU.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(6, 8));
    last = register_module("last", torch::nn::Linear(8, 2));
    gate = register_buffer("gate", torch::full({8}, 0.9, torch::dtype(torch::kDouble).device(torch::kCUDA, 0)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto shift = torch::full({8}, 0.01, torch::TensorOptions().dtype(torch::kDouble).device("cuda:0"));
    return last(torch::relu(first(x)) * gate + shift);
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::Tensor gate;
};

int main(int, char** argv) {
  const int64_t size = std::atoll(argv[1]);
  torch::manual_seed(2);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  auto net = std::make_shared<Net>();
// form: GPUs named by number or text where they are used
  net->to({torch::kCUDA, 0});
  const auto inputs = torch::randn({80, 6}), labels = torch::randint(0, 2, {80});
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
  const std::string name = "cuda:0";
  const auto weights = torch::tensor({1.0, 2.0}, torch::TensorOptions().dtype(torch::kDouble).device(name));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    int64_t steps = 0;
    for (int64_t at = 0; at + size <= 80; at += size, ++steps) {
      const auto x = inputs.slice(0, at, at + size).cuda(), y = labels.slice(0, at, at + size).to(torch::Device(torch::kCUDA, 0));
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(x), y, torch::nn::functional::CrossEntropyFuncOptions().weight(weights));
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::printf("epoch %d %.10f\n", epoch, sum / static_cast<double>(steps));
  }
  torch::save(net, "net.pt");
  auto again = std::make_shared<Net>();
// form: a checkpoint read onto the GPU
  torch::load(again, "net.pt", torch::kCUDA);
  std::printf("again %.10f\n", again->forward(torch::ones({1, 6}, torch::TensorOptions().dtype(torch::kDouble).device(torch::kCUDA))).sum().item<double>());
}
