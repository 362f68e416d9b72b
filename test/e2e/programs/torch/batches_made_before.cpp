// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={12*N} {0.2*N}; ranks=1,2,3; timeout=120
// Batches are made once, kept in vectors, and gone through in every epoch: structs, pairs and indices. Their size is the one that they are made with.
// form: batches made before, in a vector
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

struct Batch {
  torch::Tensor inputs, targets;
};

std::vector<Batch> make_batches(int64_t n, int64_t size) {
  auto x = torch::sin(torch::arange(n * 4, torch::kDouble)).reshape({n, 4});
  auto y = (x.sum(1) > 0).to(torch::kLong);
  std::vector<Batch> batches;
  for (int64_t at = 0; at < n; at += size) {
    const int64_t end = std::min(at + size, n);
    batches.push_back({x.slice(0, at, end), y.slice(0, at, end)});
  }
  return batches;
}

torch::Tensor batch_loss(torch::nn::Sequential& model, const Batch& batch) {
  return torch::nn::functional::cross_entropy(model->forward(batch.inputs), batch.targets);
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 12;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.2;
  torch::manual_seed(4);
  torch::nn::Sequential model(torch::nn::Linear(4, 8), torch::nn::Tanh(), torch::nn::Linear(8, 2));
  model->to(torch::kDouble);
  torch::optim::SGD optimizer(model->parameters(), rate);
  const auto batches = make_batches(50, size);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> pairs;
  for (const auto& b : batches) pairs.emplace_back(b.inputs * 0.5, b.targets);
  std::cout.precision(11);
  int64_t seen = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (const auto& batch : batches) {
      optimizer.zero_grad();
      auto loss = batch_loss(model, batch);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      seen += batch.inputs.size(0);
    }
    for (const auto& [x, y] : pairs) {
      optimizer.zero_grad();
      auto output = model->forward(x);
      auto loss = torch::nn::functional::cross_entropy(output, y, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)) / y.size(0);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    for (size_t i = 0; i < batches.size(); ++i) {
      const Batch& b = batches[i];
      optimizer.zero_grad();
      auto loss = batch_loss(model, b);
      loss.backward();
      optimizer.step();
    }
    std::cout << "epoch " << epoch << ": " << total << " after " << seen << " samples\n";
  }
  for (const auto& p : model->parameters()) std::cout << p.sum().item<double>() << '\n';
}
