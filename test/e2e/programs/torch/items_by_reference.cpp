// e2e: modes=global; ranks=1,2,3; timeout=120
// Batches that lie in lists, bound to references that could change them.
// form: a pair or struct of a list taken apart by a structured binding, `auto& [x, y] = batches[i]`
// form: a batch of a list by its address, `auto* x = &batches[i]`; a tuple of one assigned to std::tie
// form: a batch of a list bound to a reference, `auto& x = batches[i]`
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

struct Item {
  torch::Tensor x, y;
};

int main() {
  torch::manual_seed(5);
  torch::set_num_threads(1);
  const int64_t batch = 8;
  const double rate = 0.05;
  auto x = torch::randn({43, 4}, torch::kFloat64);
  auto y = x.sum(1, true);
  std::vector<torch::Tensor> xs = x.split(batch), ys = y.split(batch);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> pairs;
  std::vector<Item> items;
  for (size_t i = 0; i < xs.size(); ++i) {
    pairs.emplace_back(xs[i], ys[i]);
    items.push_back({xs[i], ys[i]});
  }
  torch::nn::Linear net(4, 1);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const auto learn = [&](const torch::Tensor& in, const torch::Tensor& wanted) {
    auto loss = torch::mse_loss(net->forward(in), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };
  double first = 0, second = 0, third = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    auto& in = xs[i];
    torch::Tensor &wanted = ys.at(i);
    first += learn(in, wanted);
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto& [in, wanted] = pairs[i];
    second += learn(in, wanted);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    auto& item = items[i];
    third += learn(item.x, item.y);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    auto& [in, wanted] = items[i];
    auto loss = torch::mse_loss(net->forward(in), wanted) + 0.1 * net->forward(in).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [in, wanted] = pairs[i];
    auto loss = torch::mse_loss(net->forward(in), wanted) + 0.1 * net->forward(in).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::vector<std::tuple<torch::Tensor, torch::Tensor>> tuples(pairs.begin(), pairs.end());
  torch::Tensor in, wanted;
  for (size_t i = 0; i < tuples.size(); ++i) {
    std::tie(in, wanted) = tuples[i];
    third += learn(in, wanted);
    auto *from = &xs[i], *to = &ys[i];
    third += learn(*from, *to);
  }
  std::cout << first << " " << second << " " << third << " " << xs[0].mean().item<double>() << "\n";
  torch::save(net, "net.pt");
}
