// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: random numbers of objects that begin inside a step
// Their initialisers, constructors and default arguments draw; layers, copies of models and static variables draw as they begin. In the
// program alone all of that comes from one stream, and so do the shuffles behind it.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <optional>

torch::Tensor numbers() { return torch::randn({4}, torch::kDouble); }

struct Noise {
  torch::Tensor x = torch::randn({4}, torch::kDouble);
};
struct Drawn {
  torch::Tensor x;
  Drawn() { x = torch::randn({4}, torch::kDouble); }
};
struct Listed {
  torch::Tensor x;
  Listed() : x(numbers()) {}
};
struct Outer {
  Noise inner;
};
struct Derived : Noise {
  int n = 0;
};
struct Ranged {
  torch::Tensor x = torch::rand({4}, torch::kDouble);
};
template <class T>
struct Wrap {
  T value;
};

struct HeadImpl : torch::nn::Module {
  torch::nn::Linear l{nullptr};
  torch::Tensor x = torch::randn({4}, torch::kDouble);
  HeadImpl() {
    l = register_module("l", torch::nn::Linear(4, 4));
    l->to(torch::kDouble);
  }
  torch::Tensor forward(torch::Tensor y) { return l(y + x); }
};
TORCH_MODULE(Head);

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  torch::nn::Linear l{nullptr};
  NetImpl() { reset(); }
  void reset() override { l = register_module("l", torch::nn::Linear(4, 3)); }
  torch::Tensor forward(torch::Tensor y) { return l(y); }
};
TORCH_MODULE(Net);

torch::Tensor noisy(torch::Tensor y, torch::Tensor n = torch::randn({4}, torch::kDouble)) { return y + n; }

torch::Tensor objects(torch::Tensor y) {
  Noise plain;
  auto shared = std::make_shared<Ranged>();
  auto unique = std::make_unique<Drawn>();
  Outer outer;
  Derived derived{};
  std::vector<Listed> several(2);
  Wrap<Listed> wrapped;
  std::optional<Noise> later;
  later.emplace();
  const auto drawn = torch::normal(0.0, 0.1, {4}, c10::nullopt, torch::kDouble);
  return noisy(y + drawn + plain.x + shared->x * 2 + unique->x + outer.inner.x * 3 + derived.x + several[1].x + wrapped.value.x + later->x);
}

torch::Tensor layers(Net& net, torch::Tensor y) {
  static const torch::Tensor once = torch::randn({4}, torch::kDouble);
  static auto again = torch::nn::Linear(4, 4);
  again->to(torch::kDouble);
  again->reset_parameters();
  auto layer = torch::nn::Linear(4, 4);
  layer->to(torch::kDouble);
  Head head;
  auto other = std::make_shared<HeadImpl>();
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  return other->forward(head(layer(again(y + once)))) + copy->forward(y).sum(1, true).detach();
}

int main(int argc, char** argv) {
  const int64_t batchSize = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  const Noise before;
  auto x = torch::randn({50, 4}, torch::kDouble) + before.x;
  auto set = torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>());
  auto loader = torch::data::make_data_loader(set, batchSize);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(torch::tanh(objects(batch.data)) + torch::tanh(layers(net, batch.data))).pow(2).sum(1).mean();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
    }
    std::cout << std::setprecision(12) << epoch << ' ' << sum / 50 << '\n';
  }
  torch::save(net, "net.pt");
}
