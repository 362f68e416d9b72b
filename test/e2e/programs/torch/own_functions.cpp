// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Functions with a forward and a backward pass of their own, in layers, on samples and on weights.
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

constexpr int64_t kSamples = 43;

// form: a function with a backward pass of its own (torch::autograd::Function): an activation
struct Capped : public Function<Capped> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double cap) {
    ctx->save_for_backward({x});
    ctx->saved_data["cap"] = cap;
    return x.clamp(0, cap);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    const double cap = ctx->saved_data["cap"].toDouble();
    auto passed = grads[0].clone();
    passed.index_put_({(x < 0).logical_or(x > cap)}, 0);
    return {passed, torch::Tensor()};
  }
};

// form: a layer with a backward pass of its own: gradients of the weights are sums over the samples
class Affine : public Function<Affine> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& bias) {
    ctx->save_for_backward({input, weight, bias});
    auto out = torch::mm(input, weight.t());
    if (bias.defined()) out += bias.unsqueeze(0).expand_as(out);
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    const torch::Tensor &input = saved[0], &weight = saved[1], &bias = saved[2];
    torch::Tensor of_input, of_weight, of_bias;
    const auto& g = grads[0];
    of_input = g.mm(weight);
    of_weight = g.t().mm(input);
    if (bias.defined()) of_bias = g.sum(0);
    return {of_input, of_weight, of_bias};
  }
};

// form: one function for samples and for weights: rounding whose gradient goes straight through
struct Rounded : Function<Rounded> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    ctx->save_for_backward({x});
    return torch::round(x * 8) / 8;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * (ctx->get_saved_variables()[0].abs() <= 4)};
  }
};

// form: a gradient that is turned round, by a factor that changes from epoch to epoch
struct Reversed : Function<Reversed> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double factor) {
    ctx->saved_data["factor"] = factor;
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {-grads[0] * ctx->saved_data["factor"].toDouble(), torch::Tensor()};
  }
};

// A length for each sample: fewer dimensions than it gets.
struct Length : Function<Length> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    auto squares = (x * x).sum(1);
    ctx->save_for_backward({x});
    return squares;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto x = ctx->get_saved_variables()[0];
    auto g = grads[0];
    return {2 * x * g.unsqueeze(1)};
  }
};

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(5, 7));
    weight = register_parameter("weight", torch::randn({3, 7}, torch::kFloat64) * 0.3);
    bias = register_parameter("bias", torch::zeros({3}, torch::kFloat64));
    to(torch::kFloat64);
  }
  torch::Tensor forward(const torch::Tensor& x, double factor) {
    auto h = Capped::apply(first(Rounded::apply(x)), 1.5);
    auto turned = Reversed::apply(h, factor);
    return Affine::apply(h + 0.1 * turned, Rounded::apply(weight), bias);
  }
  torch::nn::Linear first{nullptr};
  torch::Tensor weight, bias;
};

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(11);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({kSamples, 5}, torch::kFloat64);
  auto y = (x.sum(1) > 0).to(torch::kLong) + (x.select(1, 0) > 1).to(torch::kLong);
  Net net;
  torch::optim::SGD optimizer(net.parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto order = torch::randperm(kSamples);
    double total = 0;
    for (int64_t at = 0; at < kSamples; at += batch) {
      auto rows = order.slice(0, at, std::min(at + batch, kSamples));
      auto bx = x.index_select(0, rows), by = y.index_select(0, rows);
      auto out = net.forward(bx, 0.5 * epoch);
      auto loss = torch::nn::functional::cross_entropy(out, by) + 0.01 * Length::apply(out).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * bx.size(0);
    }
    torch::NoGradGuard guard;
    auto guesses = net.forward(x, 0).argmax(1);
    std::cout << "epoch " << epoch << ": " << total / kSamples << ", " << guesses.eq(y).sum().item<int64_t>() << " right\n";
  }
  torch::save(net.parameters(), "net.pt");
}
