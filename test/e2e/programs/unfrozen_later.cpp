// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Parameters that join the optimizer in a later epoch, while gradients are reduced behind the backward pass.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;

int main(int, char** argv) {
  hvd::manual_seed(5);
  const double rate = std::atof(argv[2]);
  auto x = hvd::randn({53, 6}, hvd::kFloat64), y = x.slice(1, 0, 3).argmax(1);
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                                hvd::data::DataLoaderOptions(std::strtoul(argv[1], nullptr, 10)));
  hvd::nn::Linear body(6, 8), head(8, 3);
  body->to(hvd::kFloat64);
  head->to(hvd::kFloat64);
  hvd::optim::SGD opt(body->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9));
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch == 1) opt.add_param_group(hvd::optim::ParamGroup(head->parameters(), hvd::optim::SGDOptions(0.1 * rate).momentum(0.5)));
    double total = 0;
    for (auto& batch : *loader) {
      opt.zero_grad();
      head->zero_grad();
      auto loss = F::cross_entropy(head(body(batch.data).tanh()), batch.target);
      loss.backward();
      opt.step();
      total += loss.item<double>();
    }
    std::printf("%d %.9f\n", epoch, total / static_cast<double>(loader->size()));
  }
  hvd::save(body, "body.safetensors");
  hvd::save(head, "head.safetensors");
}
