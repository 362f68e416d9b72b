// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: noise for trained numbers, as many as a batch has rows (weights that are drawn around their means)
// There are eight features and eight samples: the noise is one draw for all samples, and does not grow with the batch.
#include <torch/torch.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct NoisyImpl : torch::nn::Module {
  NoisyImpl() {
    mean = register_parameter("mean", 0.1 * torch::ones({8, 2}));
    spread = register_parameter("spread", torch::full({8, 2}, 0.2));
    bias = register_parameter("bias", torch::zeros({2}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto weight = mean + spread * torch::randn({8, 2});
    return x.mm(weight) + bias;
  }
  torch::Tensor mean, spread, bias;
};
TORCH_MODULE(Noisy);

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(3);
  auto x = torch::randn({92, 8}), y = x.sum(1);
  auto mean = torch::zeros({8}, torch::requires_grad()), spread = torch::full({8}, -1.0, torch::requires_grad());
  torch::optim::SGD optimizer({mean, spread}, rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      auto input = x.slice(0, at, std::min(at + size, x.size(0)));
      auto noise = torch::randn({8});
      auto weight = mean + spread.exp() * noise;
      auto loss = (y.slice(0, at, std::min(at + size, x.size(0))) - (input * weight).sum(1)).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * input.size(0);
    }
    std::printf("%d: %.9f %.9f %.9f\n", epoch, total / x.size(0), mean.sum().item<double>(), spread.sum().item<double>());
  }
  Noisy net;
  torch::optim::SGD other(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      auto input = x.slice(0, at, std::min(at + size, x.size(0)));
      auto loss = torch::mse_loss(net->forward(input).sum(1), y.slice(0, at, std::min(at + size, x.size(0))));
      other.zero_grad();
      loss.backward();
      other.step();
      total += loss.item<double>() * input.size(0);
    }
    std::printf("module %d: %.9f\n", epoch, total / x.size(0));
  }
  return 0;
}
