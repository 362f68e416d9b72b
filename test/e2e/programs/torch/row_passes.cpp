// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// The model sees one sample at a time, in a loop over those of a batch; the losses are added up, or collected, and one backward pass follows.
// form: forward passes of single samples in a loop over the batch
// form: forward passes of single samples in a loop over a list of examples
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::randn({44, 5}), y = torch::arange(44).remainder(3);
};

struct NetImpl : torch::nn::Module {
  NetImpl() : first(register_module("first", torch::nn::Linear(5, 8))), second(register_module("second", torch::nn::Linear(8, 3))) {}
  torch::Tensor wider(torch::Tensor h) { return torch::relu(h) + 0.1 * h; }
  torch::Tensor forward(torch::Tensor x) {
    auto h = first(x);
    h += 0.5;
    x = wider(h);
    return second(x);
  }
  torch::nn::Linear first, second;
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(3);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  auto stacked = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), batch_size);
  auto listed = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows(), batch_size);

  for (auto& batch : *stacked) {
    optimizer.zero_grad();
    auto loss = torch::zeros({1});
    int right = 0;
    for (int64_t i = 0; i < batch.data.size(0); ++i) {
      auto out = net->forward(batch.data[i].unsqueeze(0));
      loss = loss + torch::nn::functional::cross_entropy(out, batch.target[i].unsqueeze(0));
      if (out.argmax(1).item<int64_t>() == batch.target[i].item<int64_t>()) ++right;
    }
    loss = loss / batch.data.size(0);
    loss.backward();
    optimizer.step();
    std::printf("added up %.6f, %d right\n", loss.item<double>(), right);
  }
  for (auto& batch : *stacked) {
    optimizer.zero_grad();
    std::vector<torch::Tensor> outs;
    for (int64_t i = 0; i < batch.data.size(0); ++i) outs.push_back(net(batch.data[i]));
    auto loss = torch::nn::functional::cross_entropy(torch::stack(outs), batch.target);
    loss.backward();
    optimizer.step();
    std::printf("stacked %.6f\n", loss.item<double>());
  }
  for (auto& batch : *listed) {
    optimizer.zero_grad();
    std::vector<torch::Tensor> losses;
    double total = 0;
    for (const auto& example : batch) {
      auto loss = torch::nn::functional::cross_entropy(net(example.data.view({1, 5})), example.target.view({1}));
      losses.push_back(loss);
      total += loss.item<double>();
    }
    auto loss = torch::stack(losses).mean();
    loss.backward();
    optimizer.step();
    std::printf("listed %.6f, %.6f\n", loss.item<double>(), total);
  }
  for (auto& batch : *listed) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (auto& example : batch) loss = loss + torch::mse_loss(net(example.data.unsqueeze(0)).mean(), example.target.to(torch::kFloat));
    loss = loss / static_cast<double>(batch.size());
    loss.backward();
    optimizer.step();
    std::printf("mean %.5f\n", loss.item<double>());
  }
  torch::save(net, "net.pt");
}
