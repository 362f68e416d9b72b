// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: objects of one class for the batch and, in the step, for a held-out set
// Objects of one class hold the batch here and what all ranks have alike there: what a model returns, a pair of tensors with its number of rows, read
// directly, by a method and by a helper, and in an evaluation in the middle of an epoch.
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  explicit Rows(int64_t n, double shift = 0) {
    x = torch::sin(torch::arange(n * 5, torch::kDouble) * 0.73 + shift).reshape({n, 5});
    y = torch::arange(n).mul(7).remainder(3);
  }
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return static_cast<size_t>(x.size(0)); }
  torch::Tensor x, y;
};

struct Output {
  torch::Tensor logits, hidden;
};

struct NetImpl : torch::nn::Module {
  NetImpl() : a(register_module("a", torch::nn::Linear(5, 8))), b(register_module("b", torch::nn::Linear(8, 3))) {}
  Output forward(const torch::Tensor& x) {
    const auto h = torch::tanh(a(x));
    return {b(h), h};
  }
  torch::nn::Linear a, b;
};
TORCH_MODULE(Net);

struct Data {
  torch::Tensor x, y;
  int64_t rows() const { return x.size(0); }
};

int64_t right(Net& net, const Data& data) {
  torch::NoGradGuard guard;
  return net->forward(data.x).logits.argmax(1).eq(data.y).sum().item<int64_t>();
}

template <typename Loader>
double evaluate(Net& net, Loader& loader) {
  torch::NoGradGuard guard;
  int64_t hits = 0, n = 0;
  for (auto& batch : *loader) {
    const auto out = net->forward(batch.data);
    hits += out.logits.argmax(1).eq(batch.target).sum().template item<int64_t>();
    n += batch.target.size(0);
  }
  return static_cast<double>(hits) / static_cast<double>(n);
}

int main(int argc, char** argv) {
  const std::int64_t batch_size = argc > 1 ? std::stoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  torch::manual_seed(1);
  std::cout << std::setprecision(9);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows(50).map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(batch_size));
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows(23, 0.4).map(torch::data::transforms::Stack<>()), 9);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  const Rows held(24, 0.4);
  const Data valid{held.x, held.y};
  int64_t step = 0, seen = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    int64_t good = 0;
    for (auto& batch : *loader) {
      const Data now{batch.data, batch.target};
      optimizer.zero_grad();
      const auto out = net->forward(now.x);
      auto loss = F::cross_entropy(out.logits, now.y) + 1e-3 * out.hidden.pow(2).mean();
      loss.backward();
      optimizer.step();
      good += right(net, now);
      seen += now.rows();
      if (++step % 3 == 0) {
        const auto all = net->forward(valid.x);
        std::cout << step << ' ' << all.logits.argmax(1).eq(valid.y).sum().item<int64_t>() << ' ' << right(net, valid) << ' ' << valid.rows() << ' '
                  << valid.x.size(0) << ' ' << evaluate(net, test) << '\n';
      }
    }
    std::cout << epoch << ' ' << good << ' ' << seen << ' ' << right(net, valid) << '\n';
  }
  torch::save(net, "net.pt");
}
