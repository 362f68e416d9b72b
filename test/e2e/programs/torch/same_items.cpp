// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Items of lists that are the same in every step, beside the batch: they are no batches, though one of them has as many rows as a batch has.
#include <torch/torch.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

// form: terms of the loss over the parameters of a model by number, and over what they were before
struct Anchors {
  std::vector<torch::Tensor> values, strengths;
  explicit Anchors(torch::nn::Sequential net) {
    for (auto& p : net->parameters()) {
      values.push_back(p.detach().clone());
      strengths.push_back(torch::rand_like(p));
    }
  }
  torch::Tensor penalty(torch::nn::Sequential net) const {
    auto sum = torch::zeros({}, torch::kDouble);
    const auto now = net->parameters();
    for (size_t k = 0; k < now.size(); ++k) sum = sum + (strengths[k] * (now[k] - values[k]).pow(2)).sum();
    return sum;
  }
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]), samples = 45;
  const double rate = std::stod(argv[2]);
  torch::manual_seed(61);
  std::cout << std::setprecision(8);
  torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  net->to(torch::kDouble);
  const Anchors anchors(net);
  std::map<std::string, torch::Tensor> first;
  for (auto& p : net->named_parameters()) first[p.key()] = p.value().detach().clone();
// form: a list of whole data sets, each sliced in every step
  std::vector<torch::Tensor> domains;
  for (int k = 0; k < 3; ++k) domains.push_back(torch::randn({samples, 4}, torch::kDouble));
  auto targets = torch::randn({samples, 3}, torch::kDouble);
// form: prototypes in a list that a loop in the step goes through
  std::vector<torch::Tensor> prototypes;
  for (int c = 0; c < 3; ++c) prototypes.push_back(torch::randn({3}, torch::kDouble));
  auto parameters = net->parameters();
  torch::optim::SGD optimizer(parameters, rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < samples; at += batch) {
      const int64_t end = std::min(at + batch, samples);
      const auto y = targets.slice(0, at, end);
      auto loss = torch::zeros({}, torch::kDouble);
      for (size_t k = 0; k < domains.size(); ++k) loss = loss + torch::mse_loss(net->forward(domains[k].slice(0, at, end)), y);
      auto outputs = net->forward(domains[0].slice(0, at, end));
      for (auto& prototype : prototypes) loss = loss + 0.01 * (outputs - prototype).pow(2).mean();
      loss = loss + (outputs - prototypes[1]).abs().mean();
      // The first layer has eight rows, as many as a batch of the sequential program.
      loss = loss + 1e-3 * net->parameters()[0].pow(2).sum() + 1e-3 * parameters.back().abs().sum();
      loss = loss + 1e-2 * anchors.penalty(net);
      for (auto& p : net->named_parameters()) loss = loss + 1e-3 * (p.value() - first[p.key()]).pow(2).sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * y.size(0);
    }
    std::cout << epoch << ": " << total / samples << "\n";
  }
  torch::save(net, "net.pt");
}
