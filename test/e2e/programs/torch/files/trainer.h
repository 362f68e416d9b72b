// SPDX-License-Identifier: Apache-2.0
// The training function is a template in a header; what it trains is in other files.
#pragma once

#include <torch/torch.h>

#include <iostream>
#include <string>

template <typename Model, typename Loader>
double fit(Model& model, Loader& loader, torch::optim::Optimizer& optimizer, int epochs) {
  double last = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    model->train();
    double sum = 0;
    int64_t samples = 0;
    for (auto& batch : loader) {
      optimizer.zero_grad();
      auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.template item<double>() * batch.data.size(0);
      samples += batch.data.size(0);
    }
    last = sum / static_cast<double>(samples);
    std::cout << "epoch " << epoch << " of " << model->name() << ": " << last << '\n';
  }
  return last;
}
