// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.05*N}
// Files that are written and read again in one run: a checkpoint whose tensors are looked at, a table of text, a file that is renamed first.
// No rank may read what the root has not written yet.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace F = hvd::nn::functional;

struct NetImpl : hvd::nn::Module {
  // Large, so that writing it takes a while.
  NetImpl() : wide(register_module("wide", hvd::nn::Linear(4, 50000))), out(register_module("out", hvd::nn::Linear(4, 1))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(x); }
  hvd::nn::Linear wide, out;
};
HVD_MODULE(Net);

static double largest_in(const std::string& path) {
  double largest = 0;
  for (const auto& [name, tensor] : hvd::load_tensors(path)) largest = std::max(largest, tensor.abs().max().item<double>());
  return largest;
}

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  const hvd::Tensor x = hvd::randn({44, 4}), y = x.sum(1, true);
  Net net;
  hvd::optim::SGD optimizer(net->out->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch_size));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      F::mse_loss(net(batch.data), batch.target).backward();
      optimizer.step();
    }
    const std::string file = "epoch" + std::to_string(epoch) + ".safetensors";
    hvd::save(net, file);
    std::printf("largest in %s: %.9f\n", file.c_str(), largest_in(file));
  }
  {
    std::ofstream table("table.txt");
    for (int i = 0; i < 20000; ++i) table << i << ' ' << i * i % 7 << '\n';
  }
  int number = 0, value = 0, sum = 0;
  std::ifstream in("table.txt");
  while (in >> number >> value) sum += value;
  std::printf("sum of the table: %d\n", sum);
  std::filesystem::rename("table.txt", "final.txt");
  std::ifstream again("final.txt");
  again >> number >> value;
  std::printf("first line: %d %d, %s\n", number, value, again ? "read" : "missing");
  return again ? 0 : 1;
}
