// SPDX-License-Identifier: Apache-2.0
//
// The same trainer, distributed by hand as PyTorch's own C++ example does it: a distributed sampler, and after each backward one
// allreduce per parameter, divided by the number of ranks.
#include <cstdio>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "networks.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Arguments arguments(argc, argv);
  const int64_t batch_size = arguments.number("--batch", 32), steps = arguments.number("--max-steps", 10), width = arguments.number("--width", 64);
  torch::set_num_threads(1);
  torch::manual_seed(1);
  Network net(arguments.text("--network", "resnet18"), width);
  Made data(arguments.number("--samples", 2048), net->pictures, width);
  torch::data::samplers::DistributedRandomSampler sampler(data.size().value(), size, rank, false);
  auto loader = torch::data::make_data_loader(std::move(data), sampler, torch::data::DataLoaderOptions(batch_size).drop_last(true));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.001 * size).momentum(0.9));
  int64_t done = 0;
  while (done < steps) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      for (auto& parameter : net->parameters()) {
        torch::Tensor gradient = parameter.grad();
        MPI_Allreduce(MPI_IN_PLACE, gradient.data_ptr(), static_cast<int>(gradient.numel()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        gradient.div_(size);
      }
      optimizer.step();
      if (++done == steps) break;
    }
  }
  if (rank == 0) std::printf("%lld steps\n", static_cast<long long>(done));
  MPI_Finalize();
}
