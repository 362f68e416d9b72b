// e2e: edit=at += 8 => at += {8*N}; edit=Slice(at, at + 8) => Slice(at, at + {8*N}); edit=Slice(at, 8 + at) => Slice(at, {8*N} + at); edit=begin += 6 => begin += {6*N}; edit=i < begin + 6 => i < begin + {6*N}; edit=arange(from, from + kRows) => arange(from, from + {4*N}); edit=from += kRows => from += {4*N}; edit=rate = 0.1 => rate = {0.1*N}; ranks=1,2,3; timeout=90
// The size of the batches is a number that stands in the loop and once more in what says which rows a step takes.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int64_t kRows = 4;

int main() {
  torch::manual_seed(3);
  using torch::indexing::Slice;
  const double rate = 0.1;
  auto x = torch::rand({44, 3}, torch::kFloat64), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const auto train = [&](const torch::Tensor& data, const torch::Tensor& target) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(data), target);
    loss.backward();
    optimizer.step();
    std::printf("loss %.9f\n", loss.item<double>());
  };
  for (int64_t at = 0; at < 44; at += 8) train(x.index({Slice(at, at + 8)}), y.index({Slice(at, 8 + at)}));
  for (int64_t begin = 0; begin < 44; begin += 6) {
    std::vector<torch::Tensor> rows, labels;
    for (int64_t i = begin; i < begin + 6 && i < 44; ++i) {
      rows.push_back(x[i]);
      labels.push_back(y[i]);
    }
    train(torch::stack(rows), torch::stack(labels));
  }
  for (int64_t from = 0; from < 24; from += kRows) {
    auto index = torch::arange(from, from + kRows);
    train(x.index_select(0, index), y.index_select(0, index));
  }
  torch::save(net, "trained.pt");
}
