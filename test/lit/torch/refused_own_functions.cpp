// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// form: a function with a backward pass of its own that compares samples, draws, or is not linear in the gradients
// On a rank the gradients that come in are weighted, and of the samples there are only its own.
#include <torch/torch.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Centred : Function<Centred> {
  static torch::Tensor forward(AutogradContext*, torch::Tensor x) { return x - x.mean(0); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] - g[0].mean(0)}; }
};

struct Clipped : Function<Clipped> {
  static torch::Tensor forward(AutogradContext*, torch::Tensor x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0].clamp(-0.1, 0.1) * 2}; }
};

struct Noisy : Function<Noisy> {
  static torch::Tensor forward(AutogradContext*, torch::Tensor x) { return x + torch::rand_like(x); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

struct Scaled : Function<Scaled> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, torch::Tensor w) {
    ctx->save_for_backward({x, w});
    return x * w;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto saved = ctx->get_saved_variables();
    return {g[0] * saved[1], (g[0] * saved[0]).mean(0)};
  }
};

struct Counting : Function<Counting> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    ctx->saved_data["rows"] = x.size(0);
    return x * 2;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) { return {g[0] * 2.0 / ctx->saved_data["rows"].toDouble()}; }
};

static int calls = 0;
struct Remembers : Function<Remembers> {
  static torch::Tensor forward(AutogradContext*, torch::Tensor x) { return x * calls; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * calls}; }
};

struct Summed : Function<Summed> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    ctx->save_for_backward({x});
    return x.sum();
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) { return {g[0] * torch::ones_like(ctx->get_saved_variables()[0])}; }
};

struct Training {
  torch::nn::Linear net{4, 4};
  torch::optim::SGD optimizer{net->parameters(), 0.1};
  torch::Tensor w = torch::ones({4}).requires_grad_(), xs = torch::ones({36, 4}), ys = torch::ones({36, 4});

  void centred() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Centred::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void clipped() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Clipped::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void noisy() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Noisy::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void scaled() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Scaled::apply(net(x), w), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void counting() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Counting::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void remembers() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Remembers::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
  void summed() {
    for (int64_t at = 0; at < 36; at += 8) {
      auto x = xs.slice(0, at, at + 8);
      optimizer.zero_grad();
      torch::mse_loss(Summed::apply(net(x)), ys.slice(0, at, at + 8)).backward();  // refused: HVD3010
      optimizer.step();
    }
  }
};

int main() {
  Training t;
  t.centred();
  t.clipped();
  t.noisy();
  t.scaled();
  t.counting();
  t.remembers();
  t.summed();
}
