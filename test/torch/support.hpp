// SPDX-License-Identifier: Apache-2.0
#pragma once

// The same program alone and on several ranks that are threads: calls of the vocabulary are the identity without a session.

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <hvd/context.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/torch.hpp>

namespace hvd::test {

/// Numbers between -1 and 1 that depend on nothing but their position and `from`.
inline at::Tensor numbers(at::IntArrayRef sizes, double from, at::ScalarType type = at::kDouble) {
  std::int64_t n = 1;
  for (const std::int64_t extent : sizes) n *= extent;
  return (at::arange(n, at::kDouble) * 0.7310585 + from).sin().view(sizes).to(type);
}

/// Parameters of the module take such numbers, on every rank and in every run the same.
inline void fill(torch::nn::Module& module, double from = 0) {
  const at::NoGradGuard no_grad;
  for (at::Tensor& p : module.parameters()) p.copy_(0.4 * numbers(p.sizes(), from += 0.37).to(p.scalar_type()));
}

inline std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : tensors) out.push_back(t.detach().clone());
  return out;
}

/// Largest difference over the largest number of `b`.
inline double difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined() || (a.defined() && a.sizes() != b.sizes())) return 1e300;
  if (!a.defined() || a.numel() == 0) return 0;
  const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  const double worst = (x - y).abs().max().item<double>();
  return worst == 0 ? 0 : std::isfinite(worst) ? worst / std::max(1e-300, y.abs().max().item<double>()) : 1e300;
}

/// A program that trains, and what it ends with.
using Program = std::function<std::vector<at::Tensor>()>;

/// On each of so many ranks the program must end with what it ends with alone, in order.
inline void expect_as_alone(const Program& program, double tolerance = 1e-10, const std::vector<int>& ranks = {1, 2, 3, 4}) {
  const std::vector<at::Tensor> alone = program();
  ASSERT_FALSE(alone.empty());
  for (const int n : ranks) {
    std::vector<std::vector<at::Tensor>> ends(static_cast<std::size_t>(n));
    hvd::testing::spawn(n, [&] { ends[static_cast<std::size_t>(hvd::rank())] = program(); });
    double worst = 0;
    std::string where;
    for (int r = 0; r < n; ++r) {
      const auto& end = ends[static_cast<std::size_t>(r)];
      ASSERT_EQ(end.size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const double d = difference(end[i], alone[i]);
        if (d <= worst) continue;
        worst = d;
        where = "tensor " + std::to_string(i) + " on rank " + std::to_string(r) + " of " + std::to_string(n);
      }
    }
    EXPECT_LE(worst, tolerance) << where;
  }
}

/// What so many ranks end with: the message of the exception, or "no exception".
inline std::string failure(int ranks, const std::function<void()>& body) {
  try {
    hvd::testing::spawn(ranks, body);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no exception";
}

/// Two layers from 6 to 3 columns, in float64.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    a = register_module("a", torch::nn::Linear(6, 5));
    b = register_module("b", torch::nn::Linear(5, 3));
    to(torch::kDouble);
    fill(*this);
  }
  at::Tensor forward(const at::Tensor& x) { return b->forward(a->forward(x).tanh()); }
  torch::nn::Linear a{nullptr}, b{nullptr};
};
TORCH_MODULE(Net);

/// Batches of a pass: whole ones, and tails that leave ranks without rows.
inline const std::vector<std::int64_t> kBatches = {8, 8, 5, 8, 1, 3, 2};

inline at::Tensor inputs(std::int64_t rows, int step, std::int64_t columns = 6) { return numbers({rows, columns}, 1.3 * step); }
inline at::Tensor labels(std::int64_t rows, int step) { return (at::arange(rows, at::kLong) * 5 + step) % 3; }

/// One step over each of kBatches with a mean loss; `before(step)` comes first.
template <class Model, class Optimizer>
void train(Model& net, Optimizer& opt, const std::function<void(int)>& before = {}) {
  int step = 0;
  for (const std::int64_t rows : kBatches) {
    if (before) before(step);
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(inputs(rows, step)), y = hvd::shard(labels(rows, step));
    opt.zero_grad();
    const at::Tensor out = net->forward(x.to(net->parameters().front().scalar_type()));
    hvd::weighted(torch::nn::functional::cross_entropy(out, y), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
    ++step;
  }
}

}  // namespace hvd::test
