// e2e: args=; scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Expressions that are printed and change something: each rank computes them, and one shows them.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace F = hvd::nn::functional;

template <class G>
double half(G& g) {
  return std::uniform_real_distribution<double>(0, 1)(g) / 2;
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  auto x = hvd::randn({40, 5}), y = (x.matmul(hvd::randn({5, 3}))).argmax(1);
  hvd::nn::Sequential net(hvd::nn::Linear(5, 8), hvd::nn::Tanh(), hvd::nn::Linear(8, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch));
  std::mt19937 rng(11), others(5);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_int_distribution<int> digit(0, 9);
  std::vector<double> list{0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2};
  auto it = list.begin();
  double state = 1;
  std::map<std::string, double> seen;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& b : *loader) {
      const double weight = 0.5 + (rng() % 100) / 200.0 + 0.1 * digit(others) + 0.1 * *it + 0.1 * state + 0.01 * static_cast<double>(seen.size()) + 0.01 * list[0];
      auto loss = F::cross_entropy(net->forward(b.data), b.target) * weight;
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    std::cout << "drawn " << rng() % 10 << " and " << normal(rng) << '\n';
    std::printf("digit %d\n", digit(others));
    std::cout << "next " << *it++ << '\n';
    std::cout << "was " << std::exchange(state, state * 1.5) << '\n';
    std::cout << "new " << seen["epoch " + std::to_string(epoch)] << '\n';
    std::cout << "half " << half(others) << '\n';
    std::cout << "canonical " << std::generate_canonical<double, 30>(rng) << '\n';
    std::fprintf(stderr, "log %g\n", normal(others));
    std::cout << "turned " << *std::rotate(list.begin(), list.begin() + 1, list.end()) << '\n';
  }
  hvd::save(net, "net.safetensors");
}
