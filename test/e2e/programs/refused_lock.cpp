// e2e: expect=refused:HVD3020
// A lock that only one process can make: the stand-ins of the other ranks are always there.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <iomanip>
#include <iostream>

namespace F = hvd::nn::functional;

struct Rows : hvd::data::Dataset {
  Rows() : x(hvd::randn({50, 5})), y((x.matmul(hvd::randn({5, 3}))).argmax(1)) {}
  hvd::data::Example get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  size_t size() const override { return 50; }
  hvd::Tensor x, y;
};

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(1);
  auto loader = hvd::data::make_data_loader(Rows(), hvd::data::DataLoaderOptions(8));
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::cout << std::setprecision(10);
  if (FILE* lock = std::fopen("train.lock", "wx")) {
    std::fclose(lock);
  } else {
    std::cerr << "another run is active\n";
    return 1;
  }
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::cout << epoch << ": " << sum << "\n";
  }
  hvd::save(net, "net.safetensors");
}
