// SPDX-License-Identifier: Apache-2.0
// e2e: name=gradients_replaced; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=gradients_divided; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=divided_by_option; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Gradients of a summed loss that become those of a mean behind the backward pass, and a sum divided by what the loader says of its batches: the rate follows the size of the batch as that of a mean does.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;

int main(int, char** argv) {
  hvd::manual_seed(5);
  auto x = hvd::randn({48, 6}, hvd::kFloat64), y = x.slice(1, 0, 3).argmax(1);
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                                hvd::data::DataLoaderOptions(std::strtoul(argv[1], nullptr, 10)));
  hvd::nn::Linear net(6, 3);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::atof(argv[2])));
  double total = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(hvd::kSum));
#if FORM == 3
    loss = loss / static_cast<double>(loader->options().batch_size());
#endif
    loss.backward();
#if FORM == 1
    for (auto& p : net->parameters()) p.mutable_grad() = p.grad() / static_cast<double>(batch.data.size(0));
#elif FORM == 2
    for (auto& p : net->parameters()) p.mutable_grad().div_(static_cast<double>(batch.data.size(0)));
#endif
    opt.step();
    total += loss.item<double>();
  }
  std::printf("%.9f\n", total);
  hvd::save(net, "net.safetensors");
}
