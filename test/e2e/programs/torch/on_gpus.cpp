// SPDX-License-Identifier: Apache-2.0
// e2e: gpus=4; hvdize=--sync-bn; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=on_gpus_by_the_host; gpus=4; hvdize=--sync-bn; scaled={8*N} {0.05*N}; modes=global; ranks=2; env=HVD_BACKEND=mpi; timeout=120
// A trainer on a GPU as most are written: the device is chosen once, batches go there without waiting, the model has batch norm, gradients are clipped,
// the best model is saved and read again, predictions come back to the host.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Blobs : torch::data::Dataset<Blobs> {
  explicit Blobs(int64_t n) : n(n) {}
  torch::data::Example<> get(size_t i) override {
    const double k = static_cast<double>(i);
    return {torch::sin(torch::arange(64, torch::kDouble) * (0.1 + 0.05 * (i % 4)) + k).view({1, 8, 8}), torch::tensor(static_cast<int64_t>(i % 4))};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(n); }
  int64_t n;
};

struct NetImpl : torch::nn::Module {
  NetImpl()
      : conv(register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 3).padding(1)))),
        norm(register_module("norm", torch::nn::BatchNorm2d(6))),
        out(register_module("out", torch::nn::Linear(6 * 16, 4))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(norm(conv(x))), 2);
    return out(x.flatten(1));
  }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
  torch::nn::Linear out;
};
TORCH_MODULE(Net);

int main(int, char** argv) {
  const int64_t batch_size = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]);
  torch::manual_seed(3);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
// form: a GPU chosen once, for model and batches
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available()) {
    std::printf("training on the GPU\n");
    device = torch::Device(torch::kCUDA);
  }
  Net net;
  net->to(device);
  auto train = Blobs(92).map(torch::data::transforms::Stack<>());
  auto test = Blobs(40).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(train), batch_size);
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(test), 16);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  double best = -1;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    net->train();
    double sum = 0;
    int64_t seen = 0;
    for (auto& batch : *loader) {
      auto x = batch.data.to(device, /*non_blocking=*/true), y = batch.target.to(device, /*non_blocking=*/true);
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(x.size(0));
      seen += x.size(0);
    }
    net->eval();
    torch::NoGradGuard no_grad;
    int64_t right = 0;
    std::vector<int64_t> votes(4);
    for (const auto& batch : *test_loader) {
      auto scores = net->forward(batch.data.to(device));
      auto guess = scores.argmax(1);
      right += guess.eq(batch.target.to(device)).sum().item<int64_t>();
      auto on_host = guess.to(torch::kCPU);
      for (int64_t i = 0; i < on_host.size(0); ++i) ++votes[static_cast<size_t>(on_host[i].item<int64_t>())];
    }
    const double accuracy = static_cast<double>(right) / 40;
    std::printf("epoch %d: loss %.10f accuracy %.4f votes %ld %ld %ld %ld\n", epoch, sum / static_cast<double>(seen), accuracy, votes[0], votes[1], votes[2], votes[3]);
    if (accuracy > best) {
      best = accuracy;
      torch::save(net, "best.pt");
    }
  }
  Net again;
  torch::load(again, "best.pt");
  again->to(device);
  again->eval();
  const auto probe = again->forward(torch::ones({1, 1, 8, 8}, torch::TensorOptions(torch::kDouble).device(device)));
  std::printf("probe %.10f\n", probe.sum().item<double>());
}
