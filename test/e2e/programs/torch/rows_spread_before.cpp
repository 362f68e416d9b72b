// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: rows that are spread out in front of the loop: `row.repeat({size, 1})`, `row.expand({size, 1})`, `linspace(a, b, size)`
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

using torch::Tensor;

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(0);
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const Tensor x = torch::randn({48, 4}), y = torch::randn({48, 2});
  const Tensor prior = torch::tensor({{0.25, 0.5}}).repeat({rows, 1});
  const Tensor scale = torch::tensor({{1.5, 2.0}}).expand({rows, 2});
  const Tensor weight = torch::linspace(0.5, 1.5, rows).view({-1, 1});
  torch::nn::Linear net(4, 2);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    for (int64_t at = 0; at < 48; at += rows) {
      const auto part = torch::indexing::Slice(at, at + rows);
      const Tensor bx = x.index({part}), by = y.index({part});
      optimizer.zero_grad();
      const Tensor off = (net(bx) - by) * scale - prior;
      const Tensor loss = (off.pow(2) * weight).mean();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::printf("%d %.9f\n", epoch, sum);
  }
  return 0;
}
