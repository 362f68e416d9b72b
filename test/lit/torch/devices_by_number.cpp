// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// GPUs named by number or text where they are used, in no variable of a device: the rank's own. Without a number it is the current one.
#include <torch/torch.h>

#include <memory>
#include <string>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "cuda:0";
  torch::nn::Linear net(5, 3);
  // CHECK: torch::Device first(hvd::local_device("cpu"));
  torch::Device first("cpu");
  // CHECK: const torch::Device second{hvd::local_device("cuda:0")};
  const torch::Device second{"cuda:0"};
  // CHECK: static torch::Device by_name(hvd::local_device(name));
  static torch::Device by_name(name);
  // CHECK: torch::Device by_number(hvd::local_device(torch::kCUDA, 0));
  torch::Device by_number(torch::kCUDA, 0);
  // CHECK: std::unique_ptr<torch::Device> held(new torch::Device(hvd::local_device("cuda:0")));
  std::unique_ptr<torch::Device> held(new torch::Device("cuda:0"));
  // CHECK: net->to(hvd::local_device({torch::kCUDA, 0}));
  net->to({torch::kCUDA, 0});
  // CHECK: auto weight = torch::ones({3}, torch::dtype(torch::kFloat).device(hvd::local_device(torch::kCUDA, 0)));
  auto weight = torch::ones({3}, torch::dtype(torch::kFloat).device(torch::kCUDA, 0));
  // CHECK: auto other = torch::ones({3}, torch::TensorOptions().device(hvd::local_device("cuda:0")));
  auto other = torch::ones({3}, torch::TensorOptions().device("cuda:0"));
  // CHECK: auto third = torch::ones({3}, torch::device(hvd::local_device(name)));
  auto third = torch::ones({3}, torch::device(name));
  // CHECK: auto fourth = other.to(hvd::local_device(torch::Device(name))).to(torch::kCUDA);
  auto fourth = other.to(torch::Device(name)).to(torch::kCUDA);
  // CHECK: auto fifth = other.to(hvd::local_device(torch::Device{torch::kCUDA, 1}));
  auto fifth = other.to(torch::Device{torch::kCUDA, 1});
  // CHECK: auto sixth = other.to(torch::Device(torch::kCPU));
  auto sixth = other.to(torch::Device(torch::kCPU));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto scores = net(batch.data.cuda()) * weight * other * third * fourth * fifth;
    auto loss = torch::nn::functional::cross_entropy(scores.to(first).to(second).to(by_name).to(by_number), batch.target.to(by_number));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
