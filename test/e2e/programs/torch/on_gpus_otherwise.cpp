// SPDX-License-Identifier: Apache-2.0
// e2e: gpus=2; scaled={8*N} {0.02*sqrt(N)}; ranks=1,2,3; timeout=120
// e2e: name=on_gpus_checked; gpus=4; scaled={8*N} {0.02*N}; modes=global; ranks=2,3; env=HVD_CHECK=1; env=HVD_BUCKET_BYTES=600; timeout=120
// e2e: name=on_gpus_averaged; gpus=4; cxx=-DPLAIN; scaled={8*N} {0.02*N}; modes=global; ranks=2; env=HVD_SYNC=periodic:1; tolerance=1e-6; ignore=^average; timeout=120
// Devices named in other ways: constants and text with an index, tensors made on the GPU, data that lies there as a whole and is gathered by random
// indices drawn on the host, locked memory, a mean of weights beside the model.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace {

torch::Device pick() {
  if (!torch::cuda::is_available()) return torch::kCPU;
  std::printf("%s\n", torch::cuda::device_count() >= 1 ? "a GPU is there" : "none");
  return torch::Device("cuda:0");
}

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(12, 20));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({20})));
    last = register_module("last", torch::nn::Linear(20, 1));
    scale = register_buffer("scale", torch::full({1}, 0.5, torch::kDouble));
  }
  torch::Tensor forward(const torch::Tensor& x) { return last(torch::gelu(norm(first(x)))) * scale; }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::Tensor scale;
};

}  // namespace

int main(int, char** argv) {
  const int64_t batch_size = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]);
  torch::manual_seed(5);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  const auto device = pick();
  auto net = std::make_shared<Net>();
  net->to(device);
  const auto options = torch::TensorOptions().dtype(torch::kDouble).device(device);
  const auto xs = torch::randn({90, 12}).pin_memory().to(device, true), ys = xs.sum(1, true).tanh() + 0.1 * xs.narrow(1, 0, 1);
  std::vector<torch::Tensor> average;
  for (const auto& p : net->parameters()) average.push_back(p.detach().clone());
#ifdef PLAIN
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
#else
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(rate));
#endif
  auto total = torch::zeros({}, options);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto order = torch::randperm(90, torch::kLong);
    total.zero_();
    int64_t steps = 0;
    for (int64_t at = 0; at + batch_size <= 90; at += batch_size) {
// form: data that lies on the GPU as a whole, gathered by random indices
      const auto rows = order.slice(0, at, at + batch_size).to(device);
      const auto x = xs.index_select(0, rows), y = ys.index_select(0, rows);
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      optimizer.step();
      torch::NoGradGuard no_grad;
      for (size_t i = 0; i < average.size(); ++i) average[i].mul_(0.9).add_(net->parameters()[i].detach(), 0.1);
      total += loss.detach();
      ++steps;
    }
    std::printf("epoch %d: %.9f\n", epoch, total.item<double>() / static_cast<double>(steps));
  }
  torch::NoGradGuard no_grad;
  net->eval();
  const auto far = (net->forward(xs) - ys).abs();
  std::printf("worst %.9f at %ld\n", far.max().item<double>(), far.argmax().item<int64_t>());
  double sum = 0;
  for (const auto& a : average) sum += a.to(torch::kCPU).abs().sum().item<double>();
  std::printf("average %.9f\n", sum);
  torch::save(net->parameters(), "parameters.pt");
}
