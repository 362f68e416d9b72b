// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Counts of rows among other numbers in lists: the columns of a table, an array, what a helper walks. The count alone is that of the whole batch.
#include <hvd/hvd.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace F = hvd::nn::functional;

std::string row(std::initializer_list<double> numbers) {
  std::string text;
  for (const double number : numbers) {
    char part[40];
    std::snprintf(part, sizeof part, "%.9g,", number);
    text += part;
  }
  return text;
}

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  const int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  const auto x = hvd::randn({50, 5}), y = x.matmul(hvd::randn({5, 3})).argmax(1);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Sequential net(hvd::nn::Linear(5, 6), hvd::nn::Tanh(), hvd::nn::Linear(6, 3));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.5));
  std::ofstream table("table.csv");
  std::vector<std::vector<double>> kept;
  int64_t step = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      const auto out = net->forward(batch.data);
      const auto loss = F::cross_entropy(out, batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      ++step;
      const auto right = out.argmax(1).eq(batch.target).sum().item<int64_t>();
      table << row({static_cast<double>(step), loss.item<double>(), static_cast<double>(batch.data.size(0)), static_cast<double>(right)}) << '\n';
      const double plain[2] = {static_cast<double>(step), static_cast<double>(batch.data.size(0))};
      for (const double number : plain) std::printf("%g ", number);
      std::vector<double> columns{static_cast<double>(batch.data.size(0)), 0.5};
      std::array<int64_t, 3> whole{step, batch.data.size(0), right};
      for (const double number : columns) std::printf("%g ", number);
      for (const int64_t number : whole) std::printf("%lld ", static_cast<long long>(number));
      std::printf("\n");
      kept.push_back({static_cast<double>(step), static_cast<double>(batch.target.size(0)), loss.item<double>()});
    }
  for (const auto& numbers : kept) std::printf("%.9g %.9g %.9g\n", numbers[0], numbers[1], numbers[2]);
  hvd::save(net, "net.safetensors");
}
