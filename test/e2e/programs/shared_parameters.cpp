// e2e: modes=global; ranks=1,2,3; timeout=60
// Two optimizers of the same parameters that may both step behind one backward pass, chosen without braces.
#include <hvd/hvd.hpp>

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
  hvd::nn::Sequential net(hvd::nn::Linear(5, 8), hvd::nn::Tanh(), hvd::nn::Linear(8, 3));
  hvd::optim::SGD fast(net->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9)), slow(net->parameters(), hvd::optim::SGDOptions(0.05));
  std::cout << std::setprecision(10);
  int step = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      fast.zero_grad();
      auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      if (step++ % 2 == 0) fast.step();
      if (step % 3 == 0) fast.step();
      else slow.step();
      sum += loss.item<double>();
    }
    std::cout << epoch << ": " << sum << "\n";
  }
  hvd::save(net, "net.safetensors");
}
