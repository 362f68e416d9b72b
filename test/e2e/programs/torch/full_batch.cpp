// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; ranks=1,2,3; timeout=120; warns=HVD2001,HVD2010
// Every step uses all samples: each rank takes its rows of the tensors that hold them, in the steps alone. What is held out, what is measured
// outside of the steps, numbers of the features and weights of the classes stay whole.
// form: full-batch training, in an end-to-end test
#include <torch/torch.h>

#include <iostream>
#include <tuple>

namespace F = torch::nn::functional;

struct NetImpl : torch::nn::Module {
  NetImpl() : first(6, 12), second(12, 3) {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(torch::Tensor x) { return second(torch::relu(first(x))); }
  torch::nn::Linear first, second;
};
TORCH_MODULE(Net);

std::tuple<torch::Tensor, torch::Tensor> make(int64_t rows) {
  auto x = torch::randn({rows, 6}) * 3 + 1;
  auto y = (x.sum(1) > 6).to(torch::kLong) + (x.select(1, 0) > 2).to(torch::kLong);
  return {x, y};
}

double share_of_right(Net& net, const torch::Tensor& x, const torch::Tensor& y) {
  torch::NoGradGuard no_grad;
  return net(x).argmax(1).eq(y).to(torch::kDouble).mean().item<double>();
}

int main() {
  torch::manual_seed(5);
  auto [x, y] = make(101);
  auto [x_test, y_test] = make(23);
  auto importance = torch::rand({101});
  auto mean = x.mean(0), deviation = x.std(0);
  auto offset = torch::tensor({0.1f, 0.2f, 0.3f, 0.1f, 0.2f, 0.3f});
  Net net;
  torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().weight(torch::tensor({1.0f, 2.0f, 3.0f})));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  std::cout << "before " << share_of_right(net, (x - mean) / deviation, y) << std::endl;
  int epoch = 0;
  double value = 10;
  while (value > 0.5 && epoch < 12) {
    optimizer.zero_grad();
    auto noisy = x + 0.1 * torch::randn_like(x);
    auto out = net((noisy - mean - offset) / deviation);
    auto each = F::cross_entropy(out, y, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto loss = (each * importance).mean() + criterion(out, y);
    auto penalty = torch::zeros({});
    for (const auto& p : net->parameters()) penalty = penalty + p.pow(2).sum();
    auto total = loss + 1e-3 * penalty;
    total.backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    value = total.item<double>();
    auto right = out.argmax(1).eq(y).sum().item<int64_t>();
    if (epoch % 4 == 0) std::cout << epoch << " " << value << " " << 100.0 * right / x.size(0) << " " << share_of_right(net, (x_test - mean) / deviation, y_test) << std::endl;
    ++epoch;
  }
  std::cout << "stopped after " << epoch << ", right " << share_of_right(net, (x - mean) / deviation, y) << std::endl;
  torch::save(net, "net.pt");
}
