// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a batch filled through accessors and element by element, whose variable then holds the tensor on the device
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const torch::Device device(torch::kCPU);
  std::vector<std::vector<double>> records;
  for (int i = 0; i < 43; ++i) records.push_back({i % 5 - 2., i % 7 - 3., i % 3 - 1., i % 11 / 5., i % 4 / 2.});
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (size_t begin = 0; begin < records.size(); begin += batch) {
      const size_t end = std::min(records.size(), begin + batch);
      const auto rows = static_cast<int64_t>(end - begin);
      auto x = torch::zeros({rows, 4}), y = torch::zeros({rows}), weight = torch::empty({rows});
      auto to_x = x.accessor<double, 2>();
      auto to_y = y.accessor<double, 1>();
      for (size_t i = begin; i < end; ++i) {
        const auto row = static_cast<int64_t>(i - begin);
        for (int j = 0; j < 4; ++j) to_x[row][j] = records[i][j];
        to_y[row] = records[i][4];
        weight[row] = 1.0 + i % 3;
      }
      x = x.to(device, /*non_blocking=*/true);
      y = y.to(device, /*non_blocking=*/true);
      weight = weight * 0.5 + 0.1 * y;
      optimizer.zero_grad();
      const auto loss = ((net(x).squeeze(1) - y).pow(2) * weight).mean();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * rows;
    }
    std::printf("epoch %d %.9f\n", epoch, total / records.size());
  }
  std::printf("%.9f\n", net->weight.sum().item<double>());
  return 0;
}
