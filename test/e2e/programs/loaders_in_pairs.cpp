// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Two loaders that one function makes: a pair, a tuple, a struct; taken apart by bindings, by get and by tie.
#include <hvd/hvd.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <utility>

namespace data = hvd::data;
namespace F = hvd::nn::functional;

struct Toy {
  hvd::Tensor x, y;
};
using Loader = std::unique_ptr<data::DataLoader>;

static Loader ordered(const Toy& toy, int64_t batch) {
  return data::make_data_loader<data::SequentialSampler>(data::datasets::TensorDataset(toy.x, toy.y), data::DataLoaderOptions(batch));
}
static Loader shuffled(const Toy& toy, int64_t batch) {
  return data::make_data_loader(data::datasets::TensorDataset(toy.x, toy.y), data::DataLoaderOptions(batch));
}

static std::pair<Loader, Loader> make_pair_of(const Toy& toy, int64_t batch) {
  Loader train = data::make_data_loader(data::datasets::TensorDataset(toy.x, toy.y), data::DataLoaderOptions(batch));
  Loader test = data::make_data_loader<data::SequentialSampler>(data::datasets::TensorDataset(toy.x, toy.y), data::DataLoaderOptions(batch));
  return {std::move(train), std::move(test)};
}
static std::tuple<Loader, Loader, int> make_tuple_of(const Toy& toy, int64_t batch) { return std::make_tuple(ordered(toy, batch), shuffled(toy, batch), 2); }

struct Loaders {
  Loader train, test;
};
static Loaders make_struct_of(const Toy& toy, int64_t batch) {
  Loader first = shuffled(toy, batch);
  return {std::move(first), ordered(toy, batch)};
}

struct NetImpl : hvd::nn::Module {
  NetImpl() : a(register_module("a", hvd::nn::Linear(5, 7))), b(register_module("b", hvd::nn::Linear(7, 3))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return b(hvd::tanh(a(x))); }
  hvd::nn::Linear a, b;
};
HVD_MODULE(Net);

static double epoch(Net& net, hvd::optim::Optimizer& opt, data::DataLoader& loader) {
  double sum = 0;
  int64_t rows = 0;
  for (auto& b : loader) {
    opt.zero_grad();
    auto loss = F::cross_entropy(net(b.data), b.target);
    loss.backward();
    opt.step();
    sum += loss.item<double>() * static_cast<double>(b.data.size(0));
    rows += b.data.size(0);
  }
  return sum / static_cast<double>(rows);
}
static double accuracy(Net& net, data::DataLoader& loader) {
  hvd::NoGradGuard guard;
  net->eval();
  int64_t right = 0, rows = 0;
  for (auto& b : loader) {
    right += (net(b.data).argmax(1) == b.target).sum().item<int64_t>();
    rows += b.data.size(0);
  }
  net->train();
  return static_cast<double>(right) / static_cast<double>(rows);
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  Toy toy;
  toy.x = hvd::randn({50, 5});
  toy.y = toy.x.matmul(hvd::randn({5, 3})).argmax(1);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));

  auto [train, test] = make_pair_of(toy, batch);
  std::printf("%.10f\n", epoch(net, opt, *train));
  std::printf("%.10f\n", accuracy(net, *test));

  auto three = make_tuple_of(toy, batch);
  for (int e = 0; e < std::get<2>(three); ++e) std::printf("%.10f\n", epoch(net, opt, *std::get<1>(three)));
  std::printf("%.10f\n", accuracy(net, *std::get<0>(three)));

  auto both = std::make_pair(shuffled(toy, batch), data::make_data_loader<data::SequentialSampler>(data::datasets::TensorDataset(toy.x, toy.y),
                                                                                                   data::DataLoaderOptions(batch)));
  std::printf("%.10f\n", epoch(net, opt, *both.first));
  std::printf("%.10f\n", accuracy(net, *both.second));

  auto [fit, check] = make_struct_of(toy, batch);
  std::printf("%.10f\n", epoch(net, opt, *fit));
  std::printf("%.10f\n", accuracy(net, *check));
  hvd::save(net, "net.safetensors");
}
