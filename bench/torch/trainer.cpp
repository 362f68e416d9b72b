// SPDX-License-Identifier: Apache-2.0
//
// A sequential trainer of LibTorch. bench/run.py measures what hvdize makes of it.
#include <cstdio>

#include "networks.h"

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  const int64_t batch_size = arguments.number("--batch", 32), steps = arguments.number("--max-steps", 10), width = arguments.number("--width", 64);
  torch::set_num_threads(1);
  torch::manual_seed(1);
  Network net(arguments.text("--network", "resnet18"), width);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.001).momentum(0.9));
  auto loader = torch::data::make_data_loader(Made(arguments.number("--samples", 2048), net->pictures, width),
                                              torch::data::DataLoaderOptions(batch_size).drop_last(true));
  int64_t done = 0;
  while (done < steps) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      if (++done == steps) break;
    }
  }
  std::printf("%lld steps\n", static_cast<long long>(done));
}
