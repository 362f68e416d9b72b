// SPDX-License-Identifier: Apache-2.0
// e2e: name=torch_sync_bn; hvdize=--sync-bn; args=61 pictures; edit=kBatch = 12 => kBatch = {12*N}; edit=kRate = 0.05 => kRate = {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=torch_sync_bn_rows; hvdize=--sync-bn; args=66 rows; edit=kBatch = 12 => kBatch = {12*N}; edit=kRate = 0.05 => kRate = {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=torch_local_bn; args=60 pictures; modes=global; ranks=1,2; expect=different; warns=HVD2004; timeout=120
// Batch norm after convolutions, in a residual block, and over rows, with a last batch of one picture that leaves ranks without any; gradients
// are clipped, the model is evaluated between epochs and saved with its running statistics.
// form: batch norm over the global batch
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

constexpr int64_t kBatch = 12;
constexpr double kRate = 0.05;

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t channels)
      : conv(register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)))),
        norm(register_module("norm", torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(channels).momentum(0.3)))) {}
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(norm(conv(x)) + x); }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
};
TORCH_MODULE(Block);

struct NetImpl : torch::nn::Module {
  explicit NetImpl(bool rows) : rows_(rows) {
    first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 3, 3)));
    first_norm = register_module("first_norm", torch::nn::BatchNorm2d(3));
    block = register_module("block", Block(3));
    out = register_module("out", torch::nn::Linear(3 * 16, 4));
    if (rows_) out_norm = register_module("out_norm", torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(4).affine(false)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto y = torch::tanh(first_norm(first(x)));
    y = out(block(y).flatten(1));
    if (rows_) y = out_norm(y);
    return torch::log_softmax(y, 1);
  }
  bool rows_;
  torch::nn::Conv2d first{nullptr};
  torch::nn::BatchNorm2d first_norm{nullptr};
  torch::nn::BatchNorm1d out_norm{nullptr};
  Block block{nullptr};
  torch::nn::Linear out{nullptr};
};
TORCH_MODULE(Net);

struct Waves : torch::data::datasets::Dataset<Waves> {
  explicit Waves(size_t n) : n(n) {}
  torch::data::Example<> get(size_t i) override {
    auto x = 3 + torch::sin(torch::arange(36, torch::kDouble) * (0.2 + 0.1 * static_cast<double>(i % 4)) + static_cast<double>(i)).view({1, 6, 6});
    return {x, torch::tensor(static_cast<int64_t>(i % 4))};
  }
  torch::optional<size_t> size() const override { return n; }
  size_t n;
};

template <class Loader>
double evaluate(Net& net, Loader& loader, size_t size) {
  torch::NoGradGuard no_grad;
  net->eval();
  double total = 0;
  for (const auto& batch : loader)
    total += torch::nll_loss(net->forward(batch.data), batch.target, {}, at::Reduction::Sum).template item<double>();
  return total / static_cast<double>(size);
}

int main(int, char** argv) {
  const size_t samples = static_cast<size_t>(std::atoi(argv[1]));
  torch::manual_seed(5);
  Net net(std::string(argv[2]) == "rows");
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(kRate).momentum(0.5));
  auto loader = torch::data::make_data_loader(Waves(samples).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(kBatch).workers(1));
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(10).map(torch::data::transforms::Stack<>()), 4);
  for (int epoch = 0; epoch < 3; ++epoch) {
    net->train();
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::nll_loss(net->forward(batch.data), batch.target);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 2.0);
      optimizer.step();
    }
    std::printf("epoch %d: %.9f\n", epoch, evaluate(net, *test, 10));
  }
  std::printf("mean %.9f variance %.9f\n", net->first_norm->running_mean[0].item<double>(), net->block->norm->running_var[1].item<double>());
  torch::save(net, "net.pt");
  torch::save(net->parameters(), "parameters.pt");  // a list has no statistics to average
  const auto all = net->parameters();
  torch::save(all, "list.pt");
  torch::save(net->buffers(), "buffers.pt");
}
