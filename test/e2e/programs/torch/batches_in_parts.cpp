// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Batches that are worked off in parts, the optimizer's step behind them; rates in fields, and in a file from which a run goes on.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

static torch::Tensor rows() { return torch::sin(torch::arange(52 * 12, torch::kDouble) * 0.37).view({52, 12}); }
static torch::Tensor wanted() { return rows().sum(1, true).tanh(); }

// form: a batch taken in smaller parts, each with its backward pass, by an inner loop from where it begins to where it ends
static void to_the_end(int64_t size, double rate) {
  const torch::Tensor x = rows(), y = wanted();
  const int64_t part = 4;
  torch::nn::Linear net(12, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const torch::Tensor order = torch::randperm(52);
  for (int64_t start = 0; start < 52; start += size) {
    const int64_t stop = std::min<int64_t>(start + size, 52);
    optimizer.zero_grad();
    double total = 0;
    for (int64_t at = start; at < stop; at += part) {
      const torch::Tensor taken = order.slice(0, at, std::min(at + part, stop));
      const torch::Tensor loss = torch::mse_loss(net(x.index_select(0, taken)), y.index_select(0, taken), torch::Reduction::Sum) / (stop - start);
      loss.backward();
      total += loss.item<double>();
    }
    optimizer.step();
    std::printf("%.9f\n", total);
  }
}

// form: a batch taken in parts that are counted from zero, behind a product of its number and its size
static void by_number(int64_t size, double rate) {
  const torch::Tensor x = rows(), y = wanted();
  torch::nn::Linear net(12, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int64_t number = 0; number < 48 / size; ++number) {
    const int64_t begin = number * size;
    optimizer.zero_grad();
    for (int64_t at = 0; at < size; at += 2) {
      const torch::Tensor loss = torch::mse_loss(net(x.slice(0, begin + at, begin + at + 2)), y.slice(0, begin + at, begin + at + 2)) * 2 / size;
      loss.backward();
    }
    optimizer.step();
    std::printf("%.9f\n", net->weight.abs().sum().item<double>());
  }
}

// form: two rates in a record, one of which may be made from the other
struct Settings {
  double rate = 0.05, least = 0.005;
};

static void cosine(int64_t size, const Settings& settings) {
  const torch::Tensor x = rows(), y = wanted();
  torch::nn::Linear net(12, 1);
  torch::optim::SGD optimizer(net->parameters(), settings.rate);
  for (int64_t at = 0; at < 52; at += size) {
    const double now = settings.least + (settings.rate - settings.least) * 0.5 * (1 + std::cos(static_cast<double>(at) / 52));
    optimizer.param_groups()[0].options().set_lr(now);
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(net(x.slice(0, at, std::min<int64_t>(at + size, 52))), y.slice(0, at, std::min<int64_t>(at + size, 52)));
    loss.backward();
    optimizer.step();
    std::printf("%.6f %.9f\n", now, loss.item<double>());
  }
}

// form: a rate that is kept in a file and read again when the program goes on
static void resumed(int64_t size, double first) {
  const torch::Tensor x = rows(), y = wanted();
  torch::nn::Linear net(12, 1);
  for (int run = 0; run < 2; ++run) {
    double rate = first;
    int epoch = 0;
    if (std::ifstream kept("state.txt"); kept) kept >> epoch >> rate;
    torch::optim::SGD optimizer(net->parameters(), rate);
    for (int64_t at = 0; at < 52; at += size) {
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(x.slice(0, at, std::min<int64_t>(at + size, 52))), y.slice(0, at, std::min<int64_t>(at + size, 52)));
      loss.backward();
      optimizer.step();
    }
    rate *= 0.5;
    std::printf("epoch %d, rate %.6f\n", epoch, rate);
    std::ofstream("state.txt") << epoch + 1 << ' ' << rate << '\n';
  }
  torch::save(net, "net.pt");
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  Settings settings;
  if (argc > 2) {
    settings.rate = std::atof(argv[2]);
    settings.least = settings.rate / 10;
  }
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  to_the_end(size, settings.rate);
  by_number(size, settings.rate);
  cosine(size, settings);
  resumed(size, settings.rate);
}
