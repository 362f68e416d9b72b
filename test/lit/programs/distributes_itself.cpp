// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

extern "C" int MPI_Allreduce(const void* from, void* to, int count, int type, int operation, int communicator);

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    for (auto& p : net->parameters()) MPI_Allreduce(p.grad().data_ptr<float>(), p.grad().data_ptr<float>(), static_cast<int>(p.numel()), 1, 1, 1);  // refused: HVD3032
    opt.step();
  }
}
