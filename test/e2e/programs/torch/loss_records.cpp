// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=90
// The losses of a step in a record that is put together piece by piece, and one function that reads the number in any tensor.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Losses {
  torch::Tensor total, fit, activity;
};

struct Step {
  Losses losses;
  int64_t rows = 0;
};

// form: a record of losses that is put together piece by piece
static Losses losses_of(torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y) {
  Losses losses;
  const torch::Tensor scores = net->forward(x);
  losses.fit = torch::nn::functional::cross_entropy(scores, y);
  losses.activity = scores.square().mean();
  losses.total = losses.fit;
  losses.total = losses.total + 0.1 * losses.activity;
  return losses;
}

// form: one function that reads the number in any tensor
static double number(const torch::Tensor& t) { return t.detach().cpu().item<double>(); }

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(4);
  torch::nn::Sequential net(torch::nn::Linear(4, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  const torch::Tensor x = torch::randn({44, 4}, torch::kFloat64), y = torch::randint(0, 3, {44}, torch::kLong);

  for (int epoch = 0; epoch < 3; ++epoch) {
    const torch::Tensor order = torch::randperm(44, torch::kLong);
    for (int64_t i = 0; i < 44; i += batch_size) {
      const torch::Tensor index = order.slice(0, i, std::min<int64_t>(i + batch_size, 44));
      const torch::Tensor xb = x.index_select(0, index), yb = y.index_select(0, index);
      Step step;
      step.losses = losses_of(net, xb, yb);
      step.rows = xb.size(0);
      optimizer.zero_grad();
      step.losses.total.backward();
      optimizer.step();

      Losses shown;
      shown.fit = torch::nn::functional::cross_entropy(net->forward(xb), yb);
      shown.total = shown.fit * 2;
      shown.total += shown.fit;
      const torch::Tensor hits = net->forward(xb).argmax(1).eq(yb).sum();
      std::printf("%.9f %.9f %.1f %.9f %.9f\n", number(step.losses.total), number(shown.total), number(hits), number(net->parameters()[0].norm()),
                  number(net->forward(xb).max()));
    }
    torch::NoGradGuard no_grad;
    std::printf("all %.9f\n", number(losses_of(net, x, y).total));
  }
  torch::save(net, "net.pt");
}
