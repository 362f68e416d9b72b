// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// What lives on from step to step gets a number of the batch under another name: a reference to an item, a handle, a view, a pointer, a parameter.
#include <torch/torch.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

// form: running means that a function gets as a handle
static void follow(torch::Tensor mean, const torch::Tensor& now) { mean.mul_(0.9).add_(now, 0.1); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]), samples = 45;
  const double rate = std::stod(argv[2]);
  torch::manual_seed(62);
  std::cout << std::setprecision(6) << std::fixed;
  auto x = torch::randn({samples, 4}, torch::kDouble), y = torch::randn({samples, 3}, torch::kDouble);
  torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const auto fresh = [] { return torch::zeros({3}, torch::kDouble); };
  auto handed = fresh(), copied = fresh(), referred = fresh(), pointed = fresh();
  std::vector<torch::Tensor> list = {fresh(), fresh()}, items = {fresh(), fresh(), fresh()}, walked = {fresh(), fresh()}, called = {fresh(), fresh()};
  std::map<std::string, torch::Tensor> named;
  named["mean"] = fresh();
  auto table = torch::zeros({4, 3}, torch::kDouble);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < samples; at += batch) {
      const auto bx = x.slice(0, at, std::min(at + batch, samples)), by = y.slice(0, at, std::min(at + batch, samples));
      auto outputs = net->forward(bx);
      // The means of earlier steps are in the loss: were they other ones on each rank, so would be the gradients.
      auto loss = torch::mse_loss(outputs, by) + 0.1 * (outputs - list[0]).pow(2).mean() + 0.1 * (outputs - table[2]).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const auto seen = outputs.detach();
      follow(handed, seen.mean(0));
// form: running means in a list, changed through the variable of a loop
      for (auto& mean : list) mean.mul_(0.9).add_(seen.mean(0), 0.1);
      for (auto& [name, mean] : named) mean.add_(seen.mean(0));
      for (auto it = walked.begin(); it != walked.end(); ++it) it->mul_(0.5).add_(seen.amax(0));
      std::for_each(called.begin(), called.end(), [&](torch::Tensor& mean) { mean.mul_(0.9).add_(seen.mean(0), 0.1); });
// form: running sums changed through handles, references, pointers and views
      auto handle = copied;
      handle.add_(seen.sum(0));
      auto& reference = referred;
      reference += seen.sum(0);
      auto* pointer = &pointed;
      pointer->mul_(0.9).add_(seen.mean(0), 0.1);
      for (int row = 0; row < 3; ++row) {
        auto view = table[row];
        view += seen.mean(0) * row;
      }
      auto& first = items[0];
      first.copy_(seen.mean(0));
      auto& second = items.at(1);
      second = 0.5 * second + seen.mean(0);
      auto& last = items.back();
      last.add_(seen.sum(0));
    }
    std::cout << handed << copied << referred << pointed << list[1] << named["mean"] << walked[0] << called[1] << items[0] << items[1] << items[2] << table << "\n";
  }
  torch::save(list, "list.pt");
  torch::save(net, "net.pt");
}
