// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Batches that go through pinned memory where there is a GPU, and an optimizer that is stepped by a wrapper, whose closure nobody gives.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

// form: a wrapper that hands a closure on, which is never given
struct Stepper {
  void step(torch::optim::Optimizer& optimizer, torch::optim::Optimizer::LossClosure closure = nullptr) {
    optimizer.step(closure);
    ++steps;
  }
  long steps = 0;
};

int main(int, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(5);
  const int64_t size = std::atoll(argv[1]);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  torch::nn::Linear net(3, 1);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
  auto rows = torch::randn({48, 3});
  Stepper stepper;
  double total = 0;
  for (int64_t i = 0; i < 48; i += size) {
    auto x = rows.slice(0, i, i + size);
// form: a batch in pinned memory
    if (device.is_cuda() && !x.is_pinned()) x = x.pin_memory().to(device, /*non_blocking=*/true);
    else x = x.to(device);
    auto loss = torch::mse_loss(net->forward(x), x.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    stepper.step(optimizer);
    total += loss.item<double>();
  }
  std::printf("%.9f %d\n", total, static_cast<int>(stepper.steps > 0));
  torch::save(net, "net.pt");
}
