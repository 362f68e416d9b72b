// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Steps that call back for the loss, by optimizers that do so once: a lambda in a variable, in the call, in a std::function; gradients that it clips.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::sin(torch::arange(45 * 6, torch::kDouble) * 0.9).view({45, 6}), y = x.sum(1, true).tanh();
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::TensorExample>()), static_cast<size_t>(size));
  torch::nn::Linear net(6, 1), second(6, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  auto other = std::make_unique<torch::optim::SGD>(second->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0, last = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      const torch::Tensor in = x.slice(0, at, at + size), truth = y.slice(0, at, at + size);
// form: optimizer.step(closure) of an optimizer that calls it once
      auto closure = [&]() {
        optimizer.zero_grad();
        auto loss = torch::mse_loss(net(in), truth);
        loss.backward();
        return loss;
      };
      total += optimizer.step(closure).item<double>() * in.size(0);
      other->step([&]() -> torch::Tensor {
        other->zero_grad();
        const torch::Tensor loss = torch::l1_loss(second(in), truth);
        loss.backward();
        torch::nn::utils::clip_grad_norm_(second->parameters(), 0.5);
        return loss;
      });
    }
    for (auto& batch : *loader) {
      const std::function<torch::Tensor()> again = [&, rows = batch] {
        optimizer.zero_grad();
        auto each = (net(rows.data) - rows.data.sum(1, true)).square().mean();
        each.backward();
        return each;
      };
      const torch::Tensor loss = optimizer.step(again);
      last = loss.item<double>();
    }
    std::printf("%.9f %.9f\n", total, last);
  }
  torch::save(net, "net.pt");
  torch::save(second, "second.pt");
}
