// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a batch of so many samples of each class, `size / 2`, and as many steps as `rows / size`
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

using torch::Tensor;

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const Tensor x = torch::randn({60, 4}), y = torch::randint(0, 2, {60}, torch::kLong);
  std::map<int64_t, std::vector<int64_t>> of_class;
  for (int64_t i = 0; i < 60; ++i) of_class[y[i].item<int64_t>()].push_back(i);
  torch::nn::Linear net(4, 2);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::mt19937 random(2);
  const int64_t steps = 60 / size;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<int64_t> drawn;
      for (const auto& [label, list] : of_class)
        for (int64_t k = 0; k < size / 2; ++k) drawn.push_back(list[random() % list.size()]);
      const Tensor rows = torch::tensor(drawn);
      const Tensor loss = torch::nn::functional::cross_entropy(net(x.index_select(0, rows)), y.index_select(0, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::printf("%d %.9f in %ld\n", epoch, sum / steps, static_cast<long>(steps));
  }
  return 0;
}
