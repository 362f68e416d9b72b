// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A GPU that is named only where something is put on it: the current one must be this rank's.
#include <torch/torch.h>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

// CHECK: int main() {
// CHECK-NEXT: hvd::Session hvd_session;
// CHECK-NEXT: hvd::bind_device();
int main() {
  torch::nn::Linear net(5, 3);
  if (torch::cuda::is_available()) net->to(torch::kCUDA);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto data = torch::cuda::is_available() ? batch.data.cuda() : batch.data;
    auto loss = torch::nn::functional::cross_entropy(net(data).cpu(), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
