// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// A data set that dims a sample each time it is read: a rank that reads every third sample would keep the others as bright as they were.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <memory>
#include <vector>

struct Fading : hvd::data::Dataset {
  hvd::Tensor x = hvd::randn({40, 5});
  std::vector<double> light = std::vector<double>(40, 1.0);
  hvd::data::Example get(size_t i) override {
    light[i] *= 0.9;
    return {x[static_cast<int64_t>(i)] * light[i], hvd::tensor(static_cast<int64_t>(i % 3))};
  }
  size_t size() const override { return 40; }
};

int main() {
  hvd::manual_seed(1);
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(std::make_shared<Fading>(), hvd::data::DataLoaderOptions(8));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      opt.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      opt.step();
      std::printf("%.10f\n", loss.item<double>());
    }
}
