// SPDX-License-Identifier: Apache-2.0
// e2e: name=bound_pair; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=bound_members; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,3; timeout=120
// e2e: name=size_of_options; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a summed loss divided by the size of the batches that the loader's options give
// form: loaders of a pair or an object that structured bindings name
// The size of the batches that train is found where the loader has a name of its own, and that of the evaluation stays as it is.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

struct Points : torch::data::Dataset<Points> {
  explicit Points(int64_t n) : x(torch::randn({n, 6}, torch::kDouble)), y(x.narrow(1, 0, 3).argmax(1)) {}
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
  torch::Tensor x, y;
};

auto loaders(size_t size) {
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Points(53).map(torch::data::transforms::Stack<>()), size);
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points(21).map(torch::data::transforms::Stack<>()), 10);
  return std::make_pair(std::move(train), std::move(test));
}

template <class Train, class Test>
struct Both {
  Train train;
  Test test;
};

int main(int, char** argv) {
  torch::manual_seed(5);
  const size_t size = std::strtoul(argv[1], nullptr, 10);
  torch::nn::Linear net(6, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
#if FORM != 2
  auto [train, test] = loaders(size);
#else
  auto pair = loaders(size);
  Both<decltype(pair.first), decltype(pair.second)> both{std::move(pair.first), std::move(pair.second)};
  auto& [train, test] = both;
#endif
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (auto& batch : *train) {
      optimizer.zero_grad();
#if FORM == 3
      auto loss = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(torch::kSum)) / static_cast<double>(train->options().batch_size);
#else
      auto loss = F::cross_entropy(net(batch.data), batch.target);
#endif
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(batch.data.size(0));
    }
    torch::NoGradGuard none;
    int64_t right = 0;
    for (auto& batch : *test) right += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    std::printf("%.9f %lld\n", total / 53, static_cast<long long>(right));
  }
  torch::save(net, "net.pt");
}
