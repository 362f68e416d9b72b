// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Names for the fields of what a model returns, `auto [classes, value] = net->forward(rows)`, however its class is made: by a constructor, field by
// field, in a list. What is printed, added up and decided on by these names is of the whole batch. A position that all ranks look at stays whole.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Heads {
  torch::Tensor classes, value;
  Heads() = default;
  Heads(torch::Tensor c, torch::Tensor v) : classes(std::move(c)), value(std::move(v)) {}
};

struct Step {
  double loss;
  int hits;
};

struct Meter {
  double loss = 0;
  int rows = 0;
};

struct NetImpl : torch::nn::Module {
  torch::nn::Linear body{nullptr}, classes{nullptr}, value{nullptr};
  NetImpl() {
    body = register_module("body", torch::nn::Linear(2, 6));
    classes = register_module("classes", torch::nn::Linear(6, 3));
    value = register_module("value", torch::nn::Linear(6, 1));
  }
  Heads forward(torch::Tensor x) {
    x = torch::tanh(body(x));
    return Heads(classes(x), value(x));
  }
  Heads evaluate(torch::Tensor x) {
    x = torch::tanh(body(x));
    Heads out;
    out.classes = torch::softmax(classes(x), 1);
    out.value = value(x);
    return out;
  }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(31);
  const torch::Tensor x = torch::rand({45, 2}, torch::kFloat64);
  const torch::Tensor y = (x.select(1, 0) * 3).to(torch::kLong).clamp(0, 2), v = x.sum(1, true);
  const torch::Tensor position = torch::tensor({{0.3, 0.6}}, torch::kFloat64);
  Net net;
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<Step> record;
    Meter meter;
    auto& [total, seen] = meter;
    double first = 0, highest = -1e9;
    for (int64_t at = 0; at < x.size(0); at += batch_size) {
      const int64_t end = std::min<int64_t>(at + batch_size, x.size(0));
      const torch::Tensor rows = x.slice(0, at, end), labels = y.slice(0, at, end);
      optimizer.zero_grad();
      auto [classes, value] = net->forward(rows);
      const torch::Tensor loss = torch::nn::functional::cross_entropy(classes, labels) + torch::mse_loss(value, v.slice(0, at, end));
      loss.backward();
      optimizer.step();
      const auto [likely, worth] = net->evaluate(rows);
      const int hits = likely.argmax(1).eq(labels).sum().item<int>();
      record.push_back({loss.item<double>(), hits});
      total += worth.sum().item<double>();
      seen += static_cast<int>(rows.size(0));
      first = value[0][0].item<double>();
      highest = std::max(highest, worth.max().item<double>());
    }
    double sum = 0;
    int hits = 0;
    for (const auto& [loss, right] : record) {
      sum += loss;
      hits += right;
    }
    torch::NoGradGuard no_grad;
    const auto [likely, worth] = net->evaluate(position);
    std::printf("%.5f %d of %d, mean %.5f, first %.5f, highest %.5f, the position %.5f %.5f\n", sum / record.size(), hits, meter.rows, meter.loss / meter.rows, first,
                highest, worth[0][0].item<double>(), likely[0][1].item<double>());
    if (meter.loss / seen > 1.5) break;
    if (worth.item<double>() > 10) break;
    const Heads beside = net->evaluate(position + 0.1);
    if (beside.value.item<double>() > 10) break;
  }
  torch::save(net, "net.pt");
}
