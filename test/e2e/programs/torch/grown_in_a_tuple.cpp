// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; args=6 0.02; ranks=1,2,3; timeout=120
// form: a batch in a tuple or a pair, whose parts grow by cat from a first row
// The whole is the batch, not the rows that it is put together from.
#include <torch/torch.h>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <tuple>
#include <utility>

using Row = std::tuple<torch::Tensor, torch::Tensor>;

class Memory {
 public:
  void add(const torch::Tensor& state, const torch::Tensor& reward) { rows_.push_back(std::make_tuple(state, reward)); }
  size_t size() const { return rows_.size(); }
  Row batch(int64_t n) {
    Row all = pick();
    for (int64_t i = 1; i < n; ++i) {
      Row one = pick();
      std::get<0>(all) = torch::cat({std::get<0>(all), std::get<0>(one)}, 0);
      std::get<1>(all) = torch::cat({std::get<1>(all), std::get<1>(one)}, 0);
    }
    return all;
  }
  std::pair<torch::Tensor, torch::Tensor> pairs(int64_t n) {
    std::pair<torch::Tensor, torch::Tensor> all;
    for (int64_t i = 0; i < n; ++i) {
      const Row one = pick();
      all.first = i == 0 ? std::get<0>(one) : torch::cat({all.first, std::get<0>(one)});
      all.second = i == 0 ? std::get<1>(one) : torch::cat({all.second, std::get<1>(one)});
    }
    return all;
  }

 private:
  Row pick() { return rows_.at(std::uniform_int_distribution<size_t>(0, rows_.size() - 1)(generator_)); }
  std::deque<Row> rows_;
  std::mt19937 generator_{4};
};

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.02;
  torch::manual_seed(5);
  torch::nn::Linear critic(4, 1);
  torch::optim::SGD optimizer(critic->parameters(), rate);
  Memory memory;
  for (int i = 0; i < 24; ++i) {
    auto state = torch::rand({1, 4});
    memory.add(state, state.sum(1, true));
  }
  for (int step = 0; step < 20; ++step) {
    auto both = memory.batch(size);
    auto noise = torch::randn({size, 4}) * 0.2;
    auto loss = torch::mse_loss(critic->forward(std::get<0>(both) + torch::clamp(noise, -0.5, 0.5)), std::get<1>(both));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) std::printf("tuple %d: %.9f of %ld\n", step, loss.item<double>(), static_cast<long>(memory.size()));
  }
  for (int step = 0; step < 20; ++step) {
    auto both = memory.pairs(size);
    auto loss = torch::mse_loss(critic->forward(both.first), both.second);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) std::printf("pair %d: %.9f\n", step, loss.item<double>());
  }
  return 0;
}
