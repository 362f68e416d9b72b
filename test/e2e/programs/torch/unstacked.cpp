// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: loader without Stack whose examples the step stacks itself
// Loaders that stack nothing: a batch is a vector of examples, which the step collects and stacks, in a loop over them, by index, or in a function.
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  Rows() {
    x = torch::sin(torch::arange(250, torch::kDouble) * 0.73).reshape({50, 5});
    y = torch::arange(50).mul(7).remainder(3);
  }
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return static_cast<size_t>(x.size(0)); }
  torch::Tensor x, y;
};

std::pair<torch::Tensor, torch::Tensor> stacked(const std::vector<torch::data::Example<>>& examples) {
  std::vector<torch::Tensor> xs, ys;
  xs.reserve(examples.size());
  for (const auto& example : examples) {
    const auto scaled = example.data * 0.5 + 0.1;
    xs.push_back(scaled);
    ys.emplace_back(example.target);
  }
  return {torch::stack(xs), torch::stack(ys, 0)};
}

int main(int argc, char** argv) {
  const std::int64_t batch_size = argc > 1 ? std::stoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  torch::manual_seed(3);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows(), torch::data::DataLoaderOptions().batch_size(batch_size));
  torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  std::cout << std::setprecision(9);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double shown = 0;
    std::size_t seen = 0;
    for (auto& batch : *loader) {
      torch::Tensor x, y;
      if (epoch == 0) {
        std::vector<torch::Tensor> xs, ys;
        for (auto& example : batch) {
          xs.push_back(example.data);
          ys.push_back(example.target);
        }
        x = torch::stack(xs), y = torch::stack(ys);
      } else if (epoch == 1) {
        std::vector<torch::Tensor> xs, ys;
        for (std::size_t i = 0; i < batch.size(); ++i) {
          xs.push_back((batch[i].data - batch[i].data.mean()).clamp(-1, 1));
          ys.push_back(batch[i].target);
        }
        x = torch::stack(xs), y = torch::stack(ys);
      } else {
        std::tie(x, y) = stacked(batch);
      }
      const auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      shown += loss.item<double>() * static_cast<double>(batch.size());
      seen += batch.size();
    }
    std::cout << epoch << ' ' << shown / 50 << ' ' << seen << '\n';
  }
  torch::save(net, "net.pt");
}
