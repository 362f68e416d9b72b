// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 5 => batch = {5*N}; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); ranks=1,2,3; timeout=120
// Samples of different lengths go through the model one by one; their scores and labels are collected in vectors, which make the batch.
// form: samples that go through the model one by one
#include <torch/torch.h>

#include <iostream>
#include <vector>

int main() {
  torch::manual_seed(5);
  const int64_t samples = 33, batch = 5;
  std::vector<torch::Tensor> texts;
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < samples; ++i) {
    texts.push_back(torch::arange(i, i + 2 + i % 4).remainder(13));
    wanted.push_back(i % 3);
  }
  torch::nn::Embedding embedding(13, 6);
  torch::nn::Linear output(6, 3);
  torch::nn::Sequential model(embedding, output);
  model->to(torch::kDouble);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  std::vector<int64_t> labels;
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < samples; i += batch) {
      std::vector<torch::Tensor> scores;
      labels.clear();
      for (int64_t j = i; j < std::min(i + batch, samples); ++j) {
        scores.push_back(output(embedding(texts[j]).mean(0, true)));
        labels.push_back(wanted[j]);
      }
      auto loss = torch::nn::functional::cross_entropy(torch::cat(scores), torch::tensor(labels, torch::kLong));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::cout << sum << "\n";
  }
  torch::save(model, "model.pt");
  return 0;
}
