// SPDX-License-Identifier: Apache-2.0
//
// What holds of each operation by its meaning, on shapes that are drawn, on every device, in float32 and float64: two ways to the same values.
// Operations whose results are no real numbers, or have no gradient, besides: the same on every device as on the reference, bit by bit.
#include "test/unit/core_support.hpp"

#include <limits>

namespace core_identities_test {
namespace {

using core_tests::Defaults;
using core_tests::Dice;
using core_tests::difference;
using core_tests::kDraws;
using core_tests::Operation;
using hvd::Tensor;
using Inputs = std::vector<Tensor>;
using Shapes = std::vector<std::vector<int64_t>>;
namespace F = hvd::nn::functional;
namespace nn = hvd::nn;

struct Pair {
  Tensor found, wanted;
};

/// Pairs that must be equal up to rounding: to `tolerance` of float32, see difference().
struct Identity {
  std::string name;
  Shapes shapes;
  std::function<std::vector<Pair>(const Inputs&)> pairs;
  double low = -1, high = 1;
  double tolerance = 5e-6;
};

Tensor numbers(const Tensor& like, const std::vector<int64_t>& values) { return hvd::tensor(values, hvd::TensorOptions(hvd::kInt64).device(like.device())); }
Tensor upwards(const Tensor& like, int64_t n) { return hvd::arange(n, hvd::TensorOptions(hvd::kInt64).device(like.device())); }
Tensor as(const Tensor& like, const Tensor& values) { return values.to(like.dtype()); }
Tensor number(const Tensor& like, double value) { return hvd::full({}, value, like.options()); }

/// Sizes of one draw: [n, c, w], w odd; n is 1 in the first.
struct Sizes {
  Sizes(Dice& d, bool first) : n(first ? 1 : d(2, 4)), c(d(1, 4)), w(2 * d(0, 10) + 1) {}
  int64_t n, c, w;
  Shapes one() const { return {{n, c, w}}; }
  Shapes two() const { return {{n, c, w}, {n, c, w}}; }
};

std::vector<Identity> arithmetic(const Sizes& s) {
  const Shapes one = s.one(), two = s.two(), three = {{s.n, s.c, s.w}, {s.c, 1}, {s.w}};
  return {
      {"add", three, [](const Inputs& x) {
         return std::vector<Pair>{{x[0] + x[1], x[1] + x[0]}, {(x[0] + x[1]) + x[2], x[0] + (x[1] + x[2])}, {x[0].add(0.5), 0.5 + x[0]},
                                  {x[0] + 0.5, x[0] - number(x[0], -0.5)}};
       }},
      {"sub", three, [](const Inputs& x) {
         return std::vector<Pair>{{x[0] - x[1], x[0] + (-x[1])}, {(x[0].sub(x[2])) + x[2], x[0]}, {x[0] - 0.5, -(0.5 - x[0])}, {x[0].sub(0.5) + 0.5, x[0]}};
       }},
      {"mul", three, [](const Inputs& x) {
         return std::vector<Pair>{{x[0] * x[1], x[1].mul(x[0])}, {x[0] * (x[1] + x[2]), x[0] * x[1] + x[0] * x[2]}, {x[0] * 2, x[0] + x[0]}, {3 * x[0], x[0].mul(3)}};
       }},
      {"div", three, [](const Inputs& x) {
         return std::vector<Pair>{{x[0] / x[1] * x[1], x[0]}, {x[1].div(x[0]) * (x[0] / x[1]), hvd::ones_like(x[0])}, {x[0] / 4, x[0] * 0.25}, {x[0].div(x[2]), x[0] * (1 / x[2])}};
       }, 0.5, 2},
      {"in_place", three, [](const Inputs& x) {
         const auto copy = [&] { return x[0].clone(); };
         return std::vector<Pair>{{copy().add_(x[1]), x[0] + x[1]}, {copy().add_(x[2], 3), x[0] + 3 * x[2]}, {copy().add_(x[0], 3), 4 * x[0]}, {copy().add_(2), x[0] + 2},
                                  {copy().sub_(x[1]), x[0] - x[1]}, {copy().sub_(2), x[0] - 2}, {copy().mul_(x[2]), x[0] * x[2]}, {copy().mul_(2), x[0] * 2},
                                  {copy().div_(x[2]), x[0] / x[2]}, {copy().div_(2), x[0] / 2}, {copy().clamp_(0.6, 1), x[0].clamp(0.6, 1)},
                                  {copy() += x[1], x[0] + x[1]}, {copy() -= x[1], x[0] - x[1]}, {copy() *= x[1], x[0] * x[1]}, {copy() /= x[1], x[0] / x[1]},
                                  {copy() += 2, x[0] + 2}, {copy() -= 2, x[0] - 2}, {copy() *= 2, x[0] * 2}, {copy() /= 2, x[0] / 2},
                                  {copy().copy_(x[2]), x[0] * 0 + x[2]}, {copy().fill_(0.5), x[0] * 0 + 0.5}, {copy().zero_(), x[0] * 0}};
       }, 0.5, 2},
      {"neg", one, [](const Inputs& x) { return std::vector<Pair>{{-x[0], 0 - x[0]}, {-x[0].neg(), x[0]}}; }},
      {"pow", one, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].pow(3), x[0] * x[0] * x[0]}, {x[0].pow(-1), 1 / x[0]}, {x[0].pow(0.5), x[0].sqrt()}, {x[0].pow(0), hvd::ones_like(x[0])}};
       }, 0.5, 2},
      {"square", two, [](const Inputs& x) { return std::vector<Pair>{{x[0].square(), x[0] * x[0]}, {(x[0] + x[1]).square(), x[0].square() + 2 * x[0] * x[1] + x[1].square()}}; }},
      {"sqrt", two, [](const Inputs& x) { return std::vector<Pair>{{x[0].sqrt().square(), x[0]}, {(x[0] * x[1]).sqrt(), x[0].sqrt() * x[1].sqrt()}}; }, 0, 3},
      {"exp", two, [](const Inputs& x) { return std::vector<Pair>{{(x[0] + x[1]).exp(), x[0].exp() * x[1].exp()}, {(x[0] * 0).exp(), hvd::ones_like(x[0])}}; }, -2, 2, 2e-5},
      {"log", two, [](const Inputs& x) { return std::vector<Pair>{{(x[0] * x[1]).log(), x[0].log() + x[1].log()}, {x[0].exp().log(), x[0]}}; }, 0.5, 2},
      {"abs", two, [](const Inputs& x) { return std::vector<Pair>{{x[0].abs(), x[0].relu() + (-x[0]).relu()}, {(x[0] * x[1]).abs(), x[0].abs() * x[1].abs()}}; }},
      {"tanh", one, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].tanh(), 2 * (2 * x[0]).sigmoid() - 1}, {F::tanh(-x[0]), -x[0].tanh()}, {x[0].tanh() * (x[0].exp() + (-x[0]).exp()), x[0].exp() - (-x[0]).exp()}};
       }, -2, 2, 2e-5},
      {"sigmoid", one, [](const Inputs& x) { return std::vector<Pair>{{F::sigmoid(-x[0]), 1 - x[0].sigmoid()}, {x[0].sigmoid() * (1 + (-x[0]).exp()), hvd::ones_like(x[0])}}; }, -3, 3},
      {"relu", one, [](const Inputs& x) { return std::vector<Pair>{{x[0].relu() - (-x[0]).relu(), x[0]}, {F::relu(x[0]), x[0] * as(x[0], x[0].gt(0))}}; }},
      {"leaky_relu", one, [](const Inputs& x) { return std::vector<Pair>{{F::leaky_relu(x[0], 0.2), x[0].relu() - 0.2 * (-x[0]).relu()}, {F::leaky_relu(x[0]), F::leaky_relu(x[0], 0.01)}}; }},
      {"gelu", one, [](const Inputs& x) { return std::vector<Pair>{{F::gelu(x[0]) - F::gelu(-x[0]), x[0]}, {F::gelu(x[0], "tanh") - F::gelu(-x[0], "tanh"), x[0]}}; }, -4, 4},
      {"softplus", one, [](const Inputs& x) { return std::vector<Pair>{{F::softplus(x[0]) - F::softplus(-x[0]), x[0]}, {F::softplus(x[0]).exp() - 1, x[0].exp()}}; }, -3, 3, 2e-5},
      {"clamp", one, [](const Inputs& x) {
         const Tensor y = x[0].clamp(-0.5, 0.25);
         return std::vector<Pair>{{y.clamp(-0.5, 0.25), y}, {y, (x[0] + 0.5).relu() - (x[0] - 0.25).relu() - 0.5}};
       }},
      {"softmax", one, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].softmax(2).sum(2), hvd::ones_like(x[0].sum(2))}, {F::softmax(x[0] + 3, 1), x[0].softmax(1)},
                                  {x[0].softmax(-1), x[0].exp() / x[0].exp().sum(2, true)}};
       }, -3, 3},
      {"log_softmax", one, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].log_softmax(2).exp(), x[0].softmax(2)}, {F::log_softmax(x[0] + 3, 1), x[0].log_softmax(1)}};
       }, -3, 3},
      {"dropout", one, [](const Inputs& x) {
         hvd::manual_seed(5);
         const Tensor y = F::dropout(x[0], 0.25, true), kept = as(x[0], y.ne(0));
         return std::vector<Pair>{{y * 0.75, x[0] * kept}, {F::dropout(x[0], 0.25, false), x[0]}, {F::dropout(x[0], 0, true), x[0]}};
       }, 0.5, 1},
  };
}

std::vector<Identity> sums(const Sizes& s) {
  const Shapes one = s.one();
  const double count = static_cast<double>(s.n * s.c * s.w);
  return {
      {"sum", s.two(), [](const Inputs& x) {
         return std::vector<Pair>{{x[0].sum(), x[0].sum(0).sum(1).sum()}, {x[0].sum({0, 2}), x[0].sum(2).sum(0)}, {x[0].sum(1, true), x[0].sum(1).unsqueeze(1)},
                                  {(x[0] + x[1]).sum(2), x[0].sum(2) + x[1].sum(2)}};
       }},
      {"mean", one, [=](const Inputs& x) {
         return std::vector<Pair>{{x[0].mean() * count, x[0].sum()}, {x[0].mean(1) * static_cast<double>(x[0].size(1)), x[0].sum(1)}, {x[0].mean({0, 1}, true), x[0].mean(0).mean(0).view({1, 1, -1})}};
       }},
      {"max", one, [](const Inputs& x) {
         const auto [values, places] = x[0].max(2, true);
         return std::vector<Pair>{{x[0].gather(2, places), values}, {as(x[0], (x[0] - values).le(0).all()), number(x[0], 1)}, {x[0].max(), x[0].max(2).first.max(1).first.max()}};
       }},
      {"min", one, [](const Inputs& x) {
         const auto [values, places] = x[0].min(1, true);
         return std::vector<Pair>{{x[0].gather(1, places), values}, {values, -(-x[0]).max(1, true).first}, {x[0].min(), -(-x[0]).max()}};
       }},
      {"argmax", one, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].gather(2, x[0].argmax(2, true)), x[0].max(2, true).first}, {x[0].flatten().index_select(0, x[0].argmax().view({1})), x[0].max().view({1})}};
       }},
      {"norm", one, [](const Inputs& x) { return std::vector<Pair>{{x[0].norm().square(), x[0].square().sum()}, {(x[0] * -3).norm(), 3 * x[0].norm()}}; }},
      {"all_any", one, [](const Inputs& x) {
         const Tensor some = x[0].gt(0.5);
         return std::vector<Pair>{{as(x[0], some.any()), 1 - as(x[0], x[0].le(0.5).all())}, {as(x[0], some.all()), as(x[0], x[0].min().gt(0.5))},
                                  {as(x[0], hvd::stack({x[0].eq(x[0].max()).any(), x[0].gt(x[0].max()).any(), x[0].lt(x[0].max()).all(), x[0].le(x[0].max()).all()})),
                                   hvd::tensor({1.0, 0.0, 0.0, 1.0}, x[0].options())}};  // of one element and of none
       }},
      {"compare", s.two(), [](const Inputs& x) {
         const Tensor a = (x[0] * 3).to(hvd::kInt64).to(x[0].dtype()), b = (x[1] * 3).to(hvd::kInt64).to(x[0].dtype());  // with equal ones among them
         const auto f = [&](const Tensor& t) { return as(a, t); };
         return std::vector<Pair>{{f(a.lt(b)) + f(a.eq(b)) + f(a.gt(b)), hvd::ones_like(a)}, {f(a.le(b)), 1 - f(a.gt(b))}, {f(a.ge(b)), f(b.le(a))}, {f(a.ne(b)), 1 - f(a.eq(b))},
                                  {f(a == b), f((a - b) == 0)}, {f(a != b), f((a - b) != 0)}, {f(a < b), f((a - b) < 0)}, {f(a <= b), f((a - b) <= 0)}, {f(a > b), f((a - b) > 0)},
                                  {f(a >= b), f((a - b) >= 0)}, {f(a.eq(b)), f((a - b).eq(0))}, {f(a.lt(b)), (b - a).clamp(0, 1)}};
       }},
      {"classify", one, [](const Inputs& x) {
         const double inf = std::numeric_limits<double>::infinity();
         const Tensor low = x[0].lt(-0.5), high = x[0].gt(0.5), y = x[0].masked_fill(low, std::nan("")).masked_fill(high, inf);
         return std::vector<Pair>{{as(x[0], y.isnan()), as(x[0], low)}, {as(x[0], y.isfinite()), 1 - as(x[0], low) - as(x[0], high)}};
       }},
  };
}

std::vector<Identity> shapes(const Sizes& s, Dice& d) {
  const Shapes one = s.one();
  const int64_t n = s.n, c = s.c, w = s.w, cut = d(0, w), part = d(1, w);
  return {
      {"view", one, [=](const Inputs& x) {
         const Tensor flat = x[0].view({-1});
         return std::vector<Pair>{{flat.view({n, c, w}), x[0]}, {flat.narrow(0, w * c * (n - 1), w), x[0][n - 1][0]}, {x[0].flatten(), flat}, {x[0].flatten(1).view_as(x[0]), x[0]},
                                  {x[0].transpose(0, 2).reshape({-1}), x[0].transpose(0, 2).contiguous().view({-1})}};
       }},
      {"transpose", one, [=](const Inputs& x) {
         return std::vector<Pair>{{x[0].transpose(0, 2).transpose(2, 0), x[0]}, {x[0].permute({2, 0, 1}).permute({1, 2, 0}), x[0]}, {x[0].permute({0, 2, 1}), x[0].transpose(1, 2)},
                                  {x[0].transpose(1, 2).select(1, w - 1), x[0].select(2, w - 1)}, {x[0][0].t(), x[0][0].transpose(0, 1)}};
       }},
      {"squeeze", one, [=](const Inputs& x) {
         return std::vector<Pair>{{x[0].unsqueeze(1).squeeze(1), x[0]}, {x[0].unsqueeze(-1).squeeze(-1), x[0]}, {x[0].view({1, n * c * w, 1}).squeeze(), x[0].flatten().squeeze()}};
       }},
      {"expand", {{c, 1}}, [=](const Inputs& x) {
         const Tensor y = x[0].expand({n, c, w});
         return std::vector<Pair>{{y, x[0] + hvd::zeros({n, c, w}, x[0].options())}, {y.sum(0).sum(1, true), x[0] * static_cast<double>(n * w)}};
       }},
      {"slice", one, [=](const Inputs& x) {
         return std::vector<Pair>{{hvd::cat({x[0].slice(2, 0, cut), x[0].slice(2, cut, w)}, 2), x[0]}, {x[0].narrow(2, cut / 2, cut - cut / 2), x[0].slice(2, cut / 2, cut)}};
       }},
      {"select", one, [=](const Inputs& x) {
         std::vector<Tensor> rows;
         for (int64_t i = 0; i < c; ++i) rows.push_back(x[0].select(1, i));
         return std::vector<Pair>{{hvd::stack(rows, 1), x[0]}, {x[0][-1], x[0].select(0, n - 1)}};
       }},
      {"split", one, [=](const Inputs& x) {
         return std::vector<Pair>{{hvd::cat(x[0].split(part, 2), 2), x[0]}, {hvd::cat(hvd::chunk(x[0], part, 2), 2), x[0]}, {hvd::split(x[0], part, 2)[0], x[0].narrow(2, 0, part)}};
       }},
      {"cat", s.two(), [=](const Inputs& x) {
         return std::vector<Pair>{{hvd::cat({x[0], x[1]}, 1).narrow(1, c, c), x[1]}, {hvd::stack({x[0], x[1]}, 0).flatten(0, 1), hvd::cat({x[0], x[1]})}};
       }},
      {"copies", one, [](const Inputs& x) {
         const Tensor kept = x[0] * 1, copy = x[0].clone(), dense = x[0].transpose(0, 2).contiguous(), shared = copy.detach();
         copy.add_(1);
         dense.add_(1);
         return std::vector<Pair>{{x[0], kept}, {shared, x[0] + 1}, {dense.transpose(0, 2), x[0] + 1}, {x[0].cpu().to(x[0].device()), x[0]}, {x[0].to(hvd::kFloat64).to(x[0].dtype()), x[0]},
                                  {(x[0] * 5).to(hvd::kInt64).to(x[0].dtype()), (x[0] * 5).relu().to(hvd::kInt64).to(x[0].dtype()) - (x[0] * -5).relu().to(hvd::kInt64).to(x[0].dtype())}};
       }},
      {"index_select", one, [=](const Inputs& x) {
         const Tensor backwards = w - 1 - upwards(x[0], w);
         return std::vector<Pair>{{x[0].index_select(2, upwards(x[0], w)), x[0]}, {x[0].index_select(2, backwards).index_select(2, backwards), x[0]},
                                  {x[0].index_select(2, backwards).select(2, 0), x[0].select(2, w - 1)}};
       }},
      {"gather", one, [=](const Inputs& x) {
         const Tensor index = (upwards(x[0], w).view({1, 1, w}) * 7 + 3).expand({n, c, w}).contiguous(), wrapped = index - (index.to(hvd::kFloat64) / static_cast<double>(w)).to(hvd::kInt64) * w;
         return std::vector<Pair>{{x[0].gather(2, wrapped), x[0].index_select(2, wrapped[0][0].contiguous())}};
       }},
      {"masked_fill", one, [](const Inputs& x) {
         const Tensor mask = x[0].gt(0.25), real = as(x[0], mask);
         return std::vector<Pair>{{x[0].masked_fill(mask, -2), x[0] * (1 - real) - 2 * real}};
       }},
      {"factories", one, [=](const Inputs& x) {
         const hvd::TensorOptions o = x[0].options();
         std::vector<float> memory = {1, 2, 3, 4};
         const Tensor blob = hvd::from_blob(memory.data(), {2, 2}, hvd::TensorOptions(hvd::kFloat32).device(hvd::kCPU)).clone().to(x[0].device(), x[0].dtype());
         return std::vector<Pair>{{hvd::zeros({n, c, w}, o), x[0] * 0}, {hvd::ones({n, c, w}, o), x[0] * 0 + 1}, {hvd::full({n, c, w}, 2.5, o), x[0] * 0 + 2.5}, {hvd::empty({n, c, w}, o).zero_(), x[0] * 0},
                                  {hvd::zeros_like(x[0]), x[0] * 0}, {hvd::ones_like(x[0]), x[0] * 0 + 1}, {hvd::full_like(x[0], 2.5), x[0] * 0 + 2.5}, {hvd::empty_like(x[0]).copy_(x[0]), x[0]},
                                  {hvd::arange(3, 3 + w, o), hvd::arange(w, o) + 3}, {hvd::linspace(-1, 1, w + 1, o) * static_cast<double>(w), 2 * hvd::arange(w + 1, o) - static_cast<double>(w)},
                                  {hvd::tensor({1.0, 2.0, 3.0, 4.0}, o).view({2, 2}), blob}};
       }},
      {"one_hot", one, [=](const Inputs& x) {
         const Tensor ids = x[0].argmax(2), hot = F::one_hot(ids, w);
         return std::vector<Pair>{{as(x[0], hot.argmax(2)), as(x[0], ids)}, {as(x[0], hot.sum(2)), hvd::ones_like(x[0].sum(2))}};
       }},
      {"causal_mask", one, [=](const Inputs& x) {
         const Tensor i = upwards(x[0], w);
         return std::vector<Pair>{{as(x[0], F::causal_mask(w, x[0].device())), as(x[0], i.view({1, w}).gt(i.view({w, 1})))}};
       }},
  };
}

std::vector<Identity> products(const Sizes& s, Dice& d) {
  const int64_t m = d(1, 5), k = s.w, n = d(1, 5), b = s.n, c = s.c;
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < b; ++i) classes.push_back(d(0, k - 1));
  return {
      {"mm", {{m, k}, {k, n}, {n, c}}, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].mm(x[1]).mm(x[2]), x[0].mm(x[1].mm(x[2]))}, {x[0].mm(x[1]).t(), x[1].t().mm(x[0].t())}, {hvd::mm(x[0], x[1]), (x[0].unsqueeze(2) * x[1].unsqueeze(0)).sum(1)}};
       }, -1, 1, 2e-5},
      {"matmul", {{b, c, m, k}, {k, n}, {k}}, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].matmul(x[1]), (x[0].unsqueeze(-1) * x[1]).sum(3)}, {x[0].matmul(x[2]), (x[0] * x[2]).sum(3)}, {x[2].matmul(x[1]), x[2].unsqueeze(0).mm(x[1]).squeeze(0)}};
       }, -1, 1, 2e-5},
      {"bmm", {{b, m, k}, {b, k, n}}, [](const Inputs& x) {
         return std::vector<Pair>{{x[0].bmm(x[1]), x[0].matmul(x[1])}, {x[0].bmm(x[1])[0], x[0][0].mm(x[1][0])}};
       }, -1, 1, 2e-5},
      {"linear", {{b, m, k}, {n, k}, {n}}, [](const Inputs& x) {
         return std::vector<Pair>{{F::linear(x[0], x[1], x[2]), x[0].matmul(x[1].t()) + x[2]}, {F::linear(x[0], x[1]) + x[2], F::linear(x[0], x[1], x[2])}};
       }, -1, 1, 2e-5},
      {"conv2d", {{b, c, 5, k + 2}, {n, c, 3, 3}, {n}, {n, c, 1, 1}}, [=](const Inputs& x) {
         Tensor taps = hvd::zeros({b, n, 3, k}, x[0].options());  // tap by tap
         for (int64_t i = 0; i < 3; ++i)
           for (int64_t j = 0; j < 3; ++j)
             taps = taps + F::conv2d(x[0].narrow(2, i, 3).narrow(3, j, k).contiguous(), x[1].narrow(2, i, 1).narrow(3, j, 1).contiguous(), {}, {1}, {0});
         const Tensor points = x[3].view({n, c}).matmul(x[0].flatten(2)).view({b, n, 5, k + 2});
         return std::vector<Pair>{{F::conv2d(x[0], x[1], x[2], {1}, {0}), taps + x[2].view({n, 1, 1})}, {F::conv2d(x[0], x[3], {}, {1}, {0}), points}};
       }, -1, 1, 2e-5},
      {"conv_transpose2d", {{b, c, 3, k}, {c, n, 3, 3}, {b, n, 5, k + 2}}, [](const Inputs& x) {
         return std::vector<Pair>{{(F::conv_transpose2d(x[0], x[1], {}, {1}, {0}) * x[2]).sum(), (x[0] * F::conv2d(x[2], x[1], {}, {1}, {0})).sum()}};
       }, -1, 1, 5e-5},
      {"max_pool2d", {{b, c, 4, 2 * k}}, [=](const Inputs& x) {
         const Tensor windows = x[0].view({b, c, 2, 2, k, 2}).permute({0, 1, 2, 4, 3, 5}).reshape({b, c, 2, k, 4});
         return std::vector<Pair>{{F::max_pool2d(x[0], 2), windows.max(4).first}, {F::max_pool2d(x[0], 1), x[0]}};
       }},
      {"avg_pool2d", {{b, c, 4, 2 * k}}, [=](const Inputs& x) {
         const Tensor windows = x[0].view({b, c, 2, 2, k, 2}).permute({0, 1, 2, 4, 3, 5}).reshape({b, c, 2, k, 4});
         return std::vector<Pair>{{F::avg_pool2d(x[0], 2), windows.mean(4)}, {F::adaptive_avg_pool2d(x[0], F::AdaptiveAvgPool2dFuncOptions({2, k})), windows.mean(4)},
                                  {F::adaptive_avg_pool2d(x[0], 1).flatten(1), x[0].mean({2, 3})}};
       }},
      {"layer_norm", {{b, c, k + 2}, {k + 2}, {k + 2}}, [](const Inputs& x) {
         const Tensor centred = x[0] - x[0].mean(2, true), plain = centred / (centred.square().mean(2, true) + 1e-3).sqrt();
         return std::vector<Pair>{{F::layer_norm(x[0], {x[0].size(2)}, x[1], x[2], 1e-3), plain * x[1] + x[2]}, {F::layer_norm(x[0] + 1, {x[0].size(2)}, {}, {}, 1e-3), plain}};
       }, -1, 1, 5e-5},
      {"embedding", {{k, m}}, [=](const Inputs& x) {
         const Tensor ids = numbers(x[0], classes);
         return std::vector<Pair>{{F::embedding(ids, x[0]), F::one_hot(ids, k).to(x[0].dtype()).mm(x[0])}};
       }},
      {"cross_entropy", {{b, k}}, [=](const Inputs& x) {
         const Tensor t = numbers(x[0], classes), own = -x[0].log_softmax(1).gather(1, t.view({b, 1})).squeeze(1);
         return std::vector<Pair>{{F::cross_entropy(x[0], t), own.mean()}, {F::cross_entropy(x[0], t, F::CrossEntropyFuncOptions().reduction(hvd::kNone)), own},
                                  {F::nll_loss(x[0].log_softmax(1), t, F::NLLLossFuncOptions().reduction(hvd::kSum)), own.sum()}};
       }, -3, 3},
      {"mse_loss", {{b, k}, {b, k}}, [](const Inputs& x) {
         return std::vector<Pair>{{F::mse_loss(x[0], x[1]), (x[0] - x[1]).square().mean()}, {F::mse_loss(x[0], x[1], hvd::kSum), (x[0] - x[1]).square().sum()}, {F::mse_loss(x[0], x[1], hvd::kNone), (x[0] - x[1]).square()}};
       }},
      {"binary_cross_entropy", {{b, k}, {b, k}}, [](const Inputs& x) {
         const Tensor p = x[0].sigmoid(), y = x[1].square();
         return std::vector<Pair>{{F::binary_cross_entropy_with_logits(x[0], y), -(y * p.log() + (1 - y) * (1 - p).log()).mean()}};
       }},
      {"layers", {{b, 2, 4, k + 2}}, [](const Inputs& x) {
         const Tensor& a = x[0];
         hvd::nn::BatchNorm1d rows(2);
         hvd::nn::BatchNorm2d images(2);
         for (nn::Module* m : {static_cast<nn::Module*>(rows.get()), static_cast<nn::Module*>(images.get())}) m->to(a.dtype()), m->to(a.device());
         const Tensor centred = a - a.mean({0, 2, 3}, true), normal = centred / (centred.square().mean({0, 2, 3}, true) + 1e-5).sqrt();
         return std::vector<Pair>{{nn::ReLU()(a), a.relu()}, {nn::LeakyReLU(0.2)(a), F::leaky_relu(a, 0.2)}, {nn::GELU()(a), F::gelu(a)}, {nn::Sigmoid()(a), a.sigmoid()}, {nn::Tanh()(a), a.tanh()},
                                  {nn::Softmax(1)(a), a.softmax(1)}, {nn::LogSoftmax(1)(a), a.log_softmax(1)}, {nn::Flatten()(a), a.flatten(1)}, {nn::MaxPool2d(2)(a), F::max_pool2d(a, 2)},
                                  {nn::AvgPool2d(2)(a), F::avg_pool2d(a, 2)}, {nn::AdaptiveAvgPool2d(1)(a), F::adaptive_avg_pool2d(a, 1)}, {images(a), normal}, {rows(a.flatten(2)), normal.flatten(2)}};
       }, -1, 1, 5e-5},
  };
}

std::vector<Identity> all_identities() {
  std::vector<Identity> out;
  for (uint32_t seed = 0; seed < kDraws; ++seed) {
    Dice d(seed + 200);
    const Sizes s(d, seed == 0);
    for (auto& list : {arithmetic(s), sums(s), shapes(s, d), products(s, d)})
      for (Identity identity : list) {
        identity.name += '_';
        identity.name += std::to_string(seed);
        out.push_back(std::move(identity));
      }
  }
  return out;
}

class CoreIdentities : public testing::TestWithParam<Identity> {
 protected:
  Defaults defaults_;
};

TEST_P(CoreIdentities, HoldOnEveryDevice) {
  const Identity& identity = GetParam();
  const hvd::NoGradGuard no_grad;
  for (hvd::Device device : hvd::available_devices())
    for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64}) {
      const Inputs inputs = core_tests::inputs_of({identity.name, identity.shapes, nullptr, identity.low, identity.high}, device, dtype, 21);
      const std::vector<Pair> pairs = identity.pairs(inputs);
      for (size_t i = 0; i < pairs.size(); ++i) {
        EXPECT_EQ(pairs[i].found.dtype(), dtype);
        EXPECT_LT(difference(pairs[i].found, pairs[i].wanted), dtype == hvd::kFloat32 ? identity.tolerance : 1e-13)
            << identity.name << " pair " << i << ' ' << device.name() << ' ' << hvd::dtype_name(dtype);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CoreIdentities, testing::ValuesIn(all_identities()), [](const testing::TestParamInfo<Identity>& info) { return info.param.name; });

// -- without gradients: exact

/// Inputs are multiples of a quarter, which all dtypes hold: a result is the same in each. No result asks for a gradient.
using Exact = Operation;

std::vector<Exact> exact_operations(const Sizes& s, Dice& d) {
  const int64_t n = s.n, c = s.c, w = s.w, bound = d(2, 9);
  const Shapes one = {{n, c, w}}, two = {{n, c, w}, {c, 1}};
  const auto drawn = [](const Tensor& like, auto draw) {
    hvd::manual_seed(17);
    return draw(hvd::TensorOptions(hvd::kFloat32).device(like.device()));
  };
  return {
      {"eq", two, [](const Inputs& x) { return hvd::stack({x[0].eq(x[1]), x[0] == x[1], x[0].eq(0.25), x[0] == 0.25}); }},
      {"ne", two, [](const Inputs& x) { return hvd::stack({x[0].ne(x[1]), x[0] != x[1], x[0].ne(0.25), x[0] != 0.25}); }},
      {"lt", two, [](const Inputs& x) { return hvd::stack({x[0].lt(x[1]), x[0] < x[1], x[0].lt(0.25), x[0] < 0.25}); }},
      {"le", two, [](const Inputs& x) { return hvd::stack({x[0].le(x[1]), x[0] <= x[1], x[0].le(0.25), x[0] <= 0.25}); }},
      {"gt", two, [](const Inputs& x) { return hvd::stack({x[0].gt(x[1]), x[0] > x[1], x[0].gt(0.25), x[0] > 0.25}); }},
      {"ge", two, [](const Inputs& x) { return hvd::stack({x[0].ge(x[1]), x[0] >= x[1], x[0].ge(0.25), x[0] >= 0.25}); }},
      {"isnan", one, [](const Inputs& x) { return hvd::isnan(x[0].masked_fill(x[0].gt(0.25), std::nan(""))); }},
      {"isfinite", one, [](const Inputs& x) { return x[0].masked_fill(x[0].gt(0.25), std::numeric_limits<double>::infinity()).isfinite(); }},
      {"all_any", one, [](const Inputs& x) { return hvd::stack({x[0].gt(0.5).any(), x[0].gt(0.5).all(), x[0].ge(-1).all(), x[0].gt(1).any()}); }},
      {"argmax", one, [](const Inputs& x) { return x[0].argmax(2); }},
      {"argmax_of_all", {{n, c, w}}, [](const Inputs& x) { return x[0].numel() == 0 ? x[0].eq(0) : hvd::argmax(x[0].argmax().view({1}), 0); }},
      {"max_places", one, [](const Inputs& x) { return x[0].max(2, true).second; }},
      {"min_places", one, [](const Inputs& x) { return x[0].min(1).second; }},
      {"detach", one, [](const Inputs& x) { return (x[0] * 2).detach(); }},
      {"one_hot", one, [=](const Inputs& x) { return F::one_hot((x[0].detach() * 4 + 4).to(hvd::kInt64), 9); }},
      {"causal_mask", one, [=](const Inputs& x) { return F::causal_mask(w, x[0].device()); }},
      {"integers", one, [](const Inputs& x) {
         const Tensor i = (x[0].detach() * 4).to(hvd::kInt64), y = i * 3 - i / 1.0 * 1 + 2;
         return (y + i.abs().sum()).to(hvd::kInt64);
       }},
      {"fill", one, [](const Inputs& x) { return hvd::stack({hvd::full_like(x[0], 2.5), hvd::zeros_like(x[0]), hvd::ones_like(x[0]), hvd::empty_like(x[0]).fill_(0.5)}); }},
      {"factories", one, [=](const Inputs& x) {
         const hvd::TensorOptions o = x[0].options();
         return hvd::cat({hvd::zeros({c}, o), hvd::ones({c}, o), hvd::full({c}, 1.5, o), hvd::empty({c}, o).zero_(), hvd::arange(c, o), hvd::arange(-2, c, o), hvd::linspace(-1, 1, 9, o), hvd::tensor({0.5, 3.0}, o)});
       }},
      {"draws", one, [=](const Inputs& x) { return drawn(x[0], [&](auto o) { return hvd::cat({hvd::rand({n * c, w}, o).flatten(), hvd::empty({c}, o).uniform_(-2, 3)}); }); }},
      {"randint", one, [=](const Inputs& x) { return drawn(x[0], [&](auto o) { return hvd::randint(-3, bound, {n, c, w}, o.dtype(hvd::kInt64)); }); }},
      {"randperm", one, [=](const Inputs& x) { return drawn(x[0], [&](auto o) { return hvd::randperm(w, o.dtype(hvd::kInt64)); }); }},
      // Logarithm and sine of several libraries: the last bit may differ.
      {"normal", one, [=](const Inputs& x) { return drawn(x[0], [&](auto o) { return hvd::cat({hvd::randn({n * c * w}, o), hvd::empty({c}, o).normal_(1, 2)}); }); }, -1, 1, 0, 2e-6},
  };
}

std::vector<Exact> all_exact() {
  std::vector<Exact> out;
  for (uint32_t seed = 0; seed < kDraws; ++seed) {
    Dice d(seed + 300);
    Sizes s(d, seed == 0);
    if (seed + 1 == kDraws) s.n = 0;  // a batch without samples
    for (Exact op : exact_operations(s, d)) {
      op.name += '_';
      op.name += std::to_string(seed);
      out.push_back(std::move(op));
    }
  }
  return out;
}

class CoreExact : public testing::TestWithParam<Exact> {
 protected:
  Defaults defaults_;
};

Tensor exact_result(const Exact& op, hvd::Device device, hvd::Dtype dtype) {
  Inputs inputs;
  for (const Tensor& t : core_tests::inputs_of(op, device, hvd::kFloat64, 31)) inputs.push_back(((t.detach() * 4).to(hvd::kInt64).to(dtype) / 4).to(dtype).requires_grad_());
  const Tensor out = op.apply(inputs);
  EXPECT_FALSE(out.requires_grad()) << op.name;
  return out.detach().to(hvd::kCPU, hvd::kFloat64);
}

TEST_P(CoreExact, TheSameOnEveryDevice) {
  const Exact& op = GetParam();
  const Tensor reference = exact_result(op, hvd::kCPU, hvd::kFloat64);
  for (hvd::Device device : hvd::available_devices())
    for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64, hvd::kBFloat16, hvd::kFloat16}) {
      const Tensor found = exact_result(op, device, dtype);
      const bool same = op.name.rfind("normal", 0) == 0 ? difference(found, reference) < op.tolerance : hvd::equal(found, reference);
      EXPECT_TRUE(same) << op.name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype);
    }
}

INSTANTIATE_TEST_SUITE_P(All, CoreExact, testing::ValuesIn(all_exact()), [](const testing::TestParamInfo<Exact>& info) { return info.param.name; });

}  // namespace
}  // namespace core_identities_test
