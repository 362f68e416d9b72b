// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={4*N} {0.05*N}; ranks=1,2,3
// Files are renamed; what their arguments count decides when training ends.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace F = hvd::nn::functional;

std::string numbered(int n) { return "epoch-" + std::to_string(n) + ".txt"; }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  hvd::manual_seed(5);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::nn::Linear net(4, 3);
  hvd::data::datasets::TensorDataset samples(hvd::randn({22, 4}), hvd::randint(0, 3, {22}));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::atof(argv[2])));
  auto loader = hvd::data::make_data_loader(samples, hvd::data::DataLoaderOptions(std::atol(argv[1])));
  int kept = 0;
  while (kept < 3) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      F::cross_entropy(net(batch.data), batch.target).backward();
      opt.step();
    }
    std::ofstream("epoch.txt") << "epoch " << kept << '\n';
    std::filesystem::rename("epoch.txt", numbered(++kept));
  }
  std::printf("%d files, %.12f\n", kept, net->weight.sum().item<double>());
  hvd::save(net, "net.safetensors");
}
