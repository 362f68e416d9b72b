// SPDX-License-Identifier: Apache-2.0
// e2e: edit=int64_t batch = 8; => int64_t batch = {8*N};; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); ranks=1,2,3; timeout=60; sample=all
// Divisions by the size of a batch that do not count batches, and a size of batches that is a field of the program's settings.
#include <torch/torch.h>

#include <cstdio>

struct Settings {
  int64_t batch = 8;
  int64_t rows = 48;
};

static int64_t number_of(int64_t position, const Settings& settings) { return position / settings.batch; }

int main() {
  torch::manual_seed(4);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const Settings settings;
  const torch::Tensor x = torch::sin(torch::arange(settings.rows * 6, torch::kDouble) * 0.37).view({settings.rows, 6}), y = x.sum(1, true).tanh();
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  for (int epoch = 0; epoch < 2; ++epoch) {
    int64_t seen = 0;
    double weighted = 0;
// form: batches cut by narrow at a product with a field
    for (int64_t i = 0; i < settings.rows / settings.batch; ++i) {
      const torch::Tensor part = x.narrow(0, i * settings.batch, settings.batch), wanted = y.narrow(0, i * settings.batch, settings.batch);
      optimizer.zero_grad();
      torch::Tensor loss = torch::mse_loss(net->forward(part), wanted);
      loss.backward();
      optimizer.step();
// form: the number of a batch, by division of what was seen before it
      weighted += loss.item<double>() * static_cast<double>(seen / settings.batch) + static_cast<double>(number_of(seen, settings));
      seen += settings.batch;
    }
    std::printf("%.9f\n", weighted);
  }
}
