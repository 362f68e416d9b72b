// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: a loader whose workers return batches in any order
// All samples are alike, so that the program alone always ends with the same numbers.
#include <torch/torch.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

struct Alike : torch::data::datasets::Dataset<Alike> {
  torch::data::Example<> get(size_t) override { return {torch::full({4}, 0.5, torch::kDouble), torch::tensor(int64_t{2})}; }
  torch::optional<size_t> size() const override { return 48; }
};

int main(int argc, char** argv) {
  const int64_t batchSize = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  const bool shuffle = true;
  torch::manual_seed(3);
  auto set = Alike().map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(set, torch::data::DataLoaderOptions(batchSize).workers(2).enforce_ordering(!shuffle));
  auto test = torch::data::make_data_loader(set, torch::data::DataLoaderOptions().batch_size(8).workers(2).enforce_ordering(false));
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    std::cout << std::setprecision(12) << loss.item<double>() << '\n';
  }
  int64_t right = 0;
  for (auto& batch : *test) right += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << right << " right\n";
  torch::save(net, "net.pt");
}
