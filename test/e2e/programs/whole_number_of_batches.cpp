// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; warns=HVD2010
// The rows make up a whole number of batches, and nothing keeps a batch within them: one of N times the size would be read behind the data. Each batch is shared out as it is.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(8);
  const int64_t rows = 40, columns = 4, batch = 10;
  std::vector<double> inputs(rows * columns), targets(rows);
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = 0.01 * static_cast<double>((i * 37) % 101) - 0.5;
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = inputs[4 * i] * inputs[4 * i + 2];
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05));
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 generator(3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::shuffle(order.begin(), order.end(), generator);
    double sum = 0;
    for (int64_t at = 0; at < rows; at += batch) {
      std::vector<double> x, y;
      for (int64_t k = 0; k < batch; ++k) {
        const int64_t row = order[at + k];
        x.insert(x.end(), inputs.begin() + row * columns, inputs.begin() + (row + 1) * columns);
        y.push_back(targets[row]);
      }
      opt.zero_grad();
      auto loss = hvd::nn::functional::mse_loss(net->forward(hvd::from_blob(x.data(), {batch, columns}, hvd::kFloat64).clone()), hvd::from_blob(y.data(), {batch, 1}, hvd::kFloat64).clone());
      loss.backward();
      opt.step();
      sum += loss.item<double>();
    }
    std::cout << "loss " << sum * batch / rows << std::endl;
  }
  hvd::save(net, "whole_number_of_batches.hvd");
}
