// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; timeout=60
// A state from an earlier run that only the first host has: the other ranks see no such file, and must load all the same. Open MPI's environment
// stands in for hosts without a common disk.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

std::string earlier() {
  const char* process = std::getenv("OMPI_COMM_WORLD_RANK");
  return process && std::string(process) != "0" ? "no-such-file.safetensors" : "earlier.safetensors";
}

int main() {
  hvd::manual_seed(5);
  hvd::nn::Linear before(784, 10), net(784, 10);
  before->to(hvd::kFloat64);
  hvd::save(before, "earlier.safetensors");
  net->to(hvd::kFloat64);
  if (std::ifstream(earlier()).good()) {
    hvd::load(net, earlier());
    std::printf("going on from an earlier run\n");
  }
  std::FILE* file = std::fopen(earlier().c_str(), "rb");
  if (file != NULL) hvd::load(net, earlier());
  if (file) std::fclose(file);
  if (std::FILE* again = std::fopen(earlier().c_str(), "rb")) {
    hvd::load(net, earlier());
    if (again != nullptr) std::fclose(again);
  }
  if (std::ifstream stream{earlier()}) hvd::load(net, earlier());
  auto set = std::make_shared<hvd::data::datasets::Digits>(60, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  double shown = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1).to(hvd::kFloat64)), batch.target);
    loss.backward();
    opt.step();
    shown = loss.item<double>();
  }
  std::printf("%.10f\n", shown);
}
