// e2e: expect=refused:HVD3020
// What is printed is caught as a text, whose length decides: the other ranks would have none.
#include <hvd/hvd.hpp>

#include <iostream>
#include <sstream>

namespace F = hvd::nn::functional;

struct Rows : hvd::data::Dataset {
  hvd::data::Example get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  size_t size() const override { return 40; }
  hvd::Tensor x = hvd::randn({40, 5}), y = (hvd::rand({40}) * 3).to(hvd::kInt64);
};

int main() {
  auto loader = hvd::data::make_data_loader(Rows(), hvd::data::DataLoaderOptions(8));
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::ostringstream text;
    std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
    std::cout << "epoch " << epoch << ": " << sum << std::endl;
    std::cout.rdbuf(before);
    if (text.str().size() > 16) optimizer.set_lr(0.01);
  }
}
