// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: the results of a step in a std::vector or std::array of tensors, used by their numbers
// SPDX-License-Identifier: Apache-2.0
//
// A step hands back its mean loss, the sum of its hits and its outputs in one list; what each of them is stays known where it is used.
#include <torch/torch.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  NetImpl() {
    first = register_module("first", torch::nn::Linear(10, 16));
    second = register_module("second", torch::nn::Linear(16, 3));
  }
  torch::Tensor forward(const torch::Tensor& x) { return second->forward(torch::tanh(first->forward(x))); }
};
TORCH_MODULE(Net);

class Trainer {
 public:
  Trainer(Net net, double lr) : net_(net), optimizer_(net->parameters(), torch::optim::SGDOptions(lr).momentum(0.9)) {}

  std::vector<torch::Tensor> step(const torch::Tensor& x, const torch::Tensor& y) {
    optimizer_.zero_grad();
    const torch::Tensor out = net_->forward(x);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(out, y);
    loss.backward();
    optimizer_.step();
    return {loss.detach(), out.argmax(1).eq(y).sum(), out.detach().abs().amax()};
  }

  std::array<torch::Tensor, 2> look(const torch::Tensor& x, const torch::Tensor& y) {
    torch::NoGradGuard no_grad;
    const torch::Tensor out = net_->forward(x);
    return {torch::nn::functional::cross_entropy(out, y, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)), out.argmax(1).eq(y).sum()};
  }

 private:
  Net net_;
  torch::optim::SGD optimizer_;
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(4);
  Net net;
  Trainer trainer(net, lr);
  const torch::Tensor x = torch::randn({93, 10}), y = torch::randint(0, 3, {93}, torch::kLong);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const torch::Tensor order = torch::randperm(x.size(0));
    double total = 0, largest = 0;
    int64_t hits = 0;
    for (int64_t at = 0; at < x.size(0); at += batch) {
      const torch::Tensor rows = order.slice(0, at, std::min(at + batch, x.size(0)));
      std::vector<torch::Tensor> results = trainer.step(x.index_select(0, rows), y.index_select(0, rows));
      total += results[0].item<double>() * static_cast<double>(rows.size(0));
      hits += results.at(1).item<int64_t>();
      if (results[2].item<double>() > largest) largest = results[2].item<double>();
    }
    std::printf("epoch %d: loss %.12f, %lld right, largest output %.12f\n", epoch, total / 93, static_cast<long long>(hits), largest);
    double held_out = 0;
    for (int64_t at = 0; at < x.size(0); at += batch) {
      const auto part = trainer.look(x.slice(0, at, at + batch), y.slice(0, at, at + batch));
      held_out += part[0].item<double>();
      if (epoch == 2 && at == 0) std::printf("first part: %lld right\n", static_cast<long long>(part[1].item<int64_t>()));
    }
    std::printf("after it: loss %.12f\n", held_out / 93);
  }
  torch::save(net, "net.pt");
}
