// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>

#include <cstdio>

int main() {
  const char* text = R"(a string
of three
lines)";
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(hvd::data::open_digits_or("", hvd::data::datasets::kTrain, 32), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1)), batch.target).backward();
    optimizer.step();
  }
  std::printf("%s %d\n", text, __LINE__);
}
