// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=all; expect=refused:HVD3010
// A layer that is only declared here, under a name of its own: whether it treats the samples one by one is not to be seen.
// form: layer that is only declared
#include <torch/torch.h>

#include <iostream>

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl(int64_t inputs, int64_t classes);
  torch::Tensor classify(torch::Tensor x);
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Classifier);

int main() {
  auto data = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(data), 32);
  Classifier model(784, 10);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(model->classify(batch.data.view({-1, 784})), batch.target);
    loss.backward();
    optimizer.step();
    std::cout << loss.item<double>() << "\n";
  }
  return 0;
}
