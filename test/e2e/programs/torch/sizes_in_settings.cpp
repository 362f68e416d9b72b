// SPDX-License-Identifier: Apache-2.0
// e2e: edit=? 8 : 16; => ? {8*N} : 16;; edit={12, 6} => {12, {6*N}}; edit={"batch", 5} => {"batch", {5*N}}; edit=if (train) return 7 => if (train) return {7*N}; edit=config["rows"] = 9 => config["rows"] = {9*N}; edit=kRate = 0.05 => kRate = {0.05*N}; ranks=1,2,3; timeout=120
// The size of the batches comes from a function that returns one of two numbers, from a table, or stands in a map under a name. What evaluation gets stays as it is, and
// the mean over its batches shows it.
// form: batch size that a function returns, or a table holds, for training and for evaluation
// form: batch size in a map of settings
#include <torch/torch.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

constexpr double kRate = 0.05;

static int64_t size_for(bool train) { return train ? 8 : 16; }

static int64_t rows_for(bool train) {
  if (train) return 7;
  return 14;
}

int main() {
  torch::manual_seed(3);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const auto x = torch::rand({60, 3}), y = x.sum(1, true).sin();
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), kRate);
  const auto run = [&](int64_t size, bool train) {
    double sum = 0;
    int batches = 0;
    for (int64_t at = 0; at < 60; at += size, ++batches) {
      auto loss = torch::mse_loss(net(x.slice(0, at, at + size)), y.slice(0, at, at + size));
      if (train) {
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
      }
      sum += loss.item<double>();
    }
    std::printf("%.9f\n", sum / batches);
  };
  const auto by_function = [&](bool train) { run(size_for(train), train); };
  const auto by_return = [&](bool train) { run(rows_for(train), train); };
  const auto by_table = [&](bool train) {
    const std::vector<int64_t> sizes = {12, 6};
    run(sizes[train], train);
  };
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const bool train : {true, false}) {
      by_function(train);
      by_return(train);
      by_table(train);
    }
  std::map<std::string, int> config{{"batch", 5}, {"epochs", 2}};
  config["rows"] = 9;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      torch::data::datasets::TensorDataset(std::vector<torch::Tensor>{x}).map(torch::data::transforms::Stack<torch::data::TensorExample>()), config.at("batch"));
  for (int epoch = 0; epoch < config["epochs"]; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(batch.data).pow(2).mean();
      loss.backward();
      optimizer.step();
    }
    for (int64_t at = 0; at < 60; at += config["rows"]) {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net(x.slice(0, at, at + config["rows"])), y.slice(0, at, at + config["rows"]));
      loss.backward();
      optimizer.step();
    }
  }
  torch::save(net, "net.pt");
}
