// SPDX-License-Identifier: Apache-2.0
// e2e: edit=DataLoaderOptions(8) => DataLoaderOptions({8*N}); edit=parameters(), 0.1 => parameters(), {0.1*N}; ranks=1,2,3; timeout=120
// form: a checkpoint that is loaded if it is there, told by the framework's exception
// What the root throws, every rank throws, so the program's own handler takes it on all of them. Another exception, and a switch over what only one
// rank sees, go the same way.
#include <filesystem>

#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

std::string kind(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  switch (status.type()) {
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::not_found: return "nothing";
    case std::filesystem::file_type::regular: return "a file";
    default: return "something else";
  }
}

int main() {
  torch::manual_seed(3);
  auto x = torch::randn({50, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), torch::data::DataLoaderOptions(8));
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  bool resumed = true;
  try {
    torch::load(net, "net.pt");
  } catch (const c10::Error& error) {
    std::cout << "no checkpoint: " << std::string(error.what_without_backtrace()).substr(0, 16) << '\n';
    resumed = false;
  }
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto there = kind("net.pt");
  std::cout << (resumed ? "goes on" : "begins") << ", there is " << there << '\n';
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(batch.data).pow(2).mean();
      loss.backward();
      optimizer.step();
    }
  std::cout << std::setprecision(12) << net->weight.sum().item<double>() << '\n';
  torch::save(net, "net.pt");
}
