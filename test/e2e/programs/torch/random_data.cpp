// SPDX-License-Identifier: Apache-2.0
// e2e: args=; modes=global; ranks=1,2,3; timeout=120
// e2e: args=2; modes=global; ranks=2,3; timeout=120
// Data sets and transforms that draw random numbers, in the loop's thread and in workers: a rank reads its slice only, so it draws another
// number of times than the others, and still all ranks must shuffle alike. Every sample is used exactly once in each epoch.
// form: random augmentation in the data set
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

struct Numbers : torch::data::datasets::Dataset<Numbers> {
  torch::data::Example<> get(size_t i) override {
    // More draws for some samples than for others.
    const auto noise = torch::rand({static_cast<int64_t>(1 + i % 3)}).sum() * 0;
    return {torch::full({2}, static_cast<double>(i), torch::kDouble) + noise, torch::full({1}, static_cast<double>(i % 2), torch::kDouble)};
  }
  torch::optional<size_t> size() const override { return 41; }
};

int main(int argc, char** argv) {
  torch::manual_seed(3);
  const size_t workers = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : 0;
  torch::nn::Linear model(2, 1);
  model->to(torch::kDouble);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(1e-4));
  auto flip = torch::data::transforms::Lambda<torch::data::Example<>>([](torch::data::Example<> e) {
    if (torch::rand({1}).item<float>() < 0.5f) e.data = e.data.flip(0);
    return e;
  });
  auto loader = torch::data::make_data_loader(Numbers().map(flip).map(torch::data::transforms::Stack<>()),
                                              torch::data::DataLoaderOptions().batch_size(5).workers(workers));
  for (int epoch = 0; epoch < 4; ++epoch) {
    double used = 0, squares = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(model(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      used += batch.data.sum().item<double>();
      squares += batch.data.pow(2).sum().item<double>();
    }
    std::cout << used << " " << squares << "\n";
  }
}
