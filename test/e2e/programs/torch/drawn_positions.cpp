// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={4*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=positions_of_all; cxx=-DALL; modes=global; ranks=1,3; warns=HVD2010
// form: positions drawn by a function that gets their number, and a range-for over them that collects rows
// The function serves others too: what they ask for stays as it is.
#include <torch/torch.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

static std::mt19937 engine(7);

std::vector<int64_t> random_positions(int64_t low, int64_t high, int64_t count) {
  std::uniform_int_distribution<int64_t> draw(low, high - 1);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) positions.push_back(draw(engine));
  return positions;
}

// Not drawn: perhaps all there are.
std::vector<int64_t> positions_from(int64_t start, int64_t count) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) positions.push_back(start + i);
  return positions;
}

std::pair<torch::Tensor, torch::Tensor> next_batch(const torch::Tensor& text, int64_t step, int64_t batch, int64_t block) {
  std::vector<torch::Tensor> x, y;
  (void)step;
#ifdef ALL
  for (const auto p : positions_from(step % 2, batch)) {
#else
  for (const auto p : random_positions(0, text.size(0) - block, batch)) {
#endif
    x.push_back(text.slice(0, p, p + block));
    y.push_back(text.slice(0, p + 1, p + 1 + block));
  }
  return {torch::stack(x), torch::stack(y)};
}

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return head(torch::tanh(embed(x))); }
  torch::nn::Embedding embed = register_module("embed", torch::nn::Embedding(7, 6));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(6, 7));
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 4;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(3);
  Net net;
  net->to(torch::kDouble);
  const auto text = torch::randint(0, 7, {60}, torch::kLong);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::cout << std::setprecision(12);
  for (int step = 0; step < 8; ++step) {
    auto [x, y] = next_batch(text, step, batch, 5);
    auto loss = torch::nn::functional::cross_entropy(net(x).view({-1, 7}), y.view({-1}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << step << " " << loss.item<double>() << ", shown:";
    for (const auto p : random_positions(0, 50, 3)) std::cout << " " << p;
    std::cout << std::endl;
  }
  torch::save(net, "net.pt");
}
