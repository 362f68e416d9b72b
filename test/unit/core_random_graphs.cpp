// SPDX-License-Identifier: Apache-2.0
//
// Gradients through graphs that are drawn: values used several times, expanded, viewed, changed in place, cut up and joined, in an order that no one chose. Each is
// differentiated twice (gradients add up) and compared with finite differences.
#include "test/unit/core_support.hpp"

namespace core_random_graphs_test {
namespace {

using hvd::Tensor;
namespace F = hvd::nn::functional;

constexpr int64_t kRows = 4, kColumns = 3;
constexpr unsigned kGraphs = 3000, kParts = 6;

/// What a node makes of two earlier values, all of them of shape {kRows, kColumns}.
struct Node {
  const char* name;
  Tensor (*make)(const Tensor& x, const Tensor& y);
};

Tensor indices(std::vector<int64_t> at) { return hvd::tensor(at); }

const Node kNodes[] = {
    {"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
    {"subtract", [](const Tensor& x, const Tensor& y) { return x - y; }},
    {"multiply", [](const Tensor& x, const Tensor& y) { return x * y; }},
    {"divide", [](const Tensor& x, const Tensor& y) { return x / (y.square() + 1); }},
    {"negate", [](const Tensor& x, const Tensor&) { return -x; }},
    {"tanh", [](const Tensor& x, const Tensor&) { return x.tanh(); }},
    {"sigmoid", [](const Tensor& x, const Tensor&) { return x.sigmoid(); }},
    {"exp", [](const Tensor& x, const Tensor&) { return (x * 0.3).exp(); }},
    {"log", [](const Tensor& x, const Tensor&) { return (x.square() + 0.1).log(); }},
    {"sqrt", [](const Tensor& x, const Tensor&) { return (x.square() + 0.1).sqrt(); }},
    {"cube", [](const Tensor& x, const Tensor&) { return x.pow(3); }},
    {"softplus", [](const Tensor& x, const Tensor&) { return F::softplus(x); }},
    {"gelu", [](const Tensor& x, const Tensor&) { return F::gelu(x); }},
    {"clamp", [](const Tensor& x, const Tensor& y) { return x.clamp(-0.5, 5) + y; }},
    {"masked_fill", [](const Tensor& x, const Tensor& y) { return x.masked_fill(y.detach().gt(0), 0.3); }},
    {"softmax of rows", [](const Tensor& x, const Tensor&) { return x.softmax(1); }},
    {"log_softmax of columns", [](const Tensor& x, const Tensor&) { return x.log_softmax(0); }},
    {"layer_norm", [](const Tensor& x, const Tensor&) { return F::layer_norm(x, {kColumns}); }},
    {"sums, expanded", [](const Tensor& x, const Tensor&) { return x.sum(1, true).expand({kRows, kColumns}); }},
    {"means added", [](const Tensor& x, const Tensor& y) { return x.mean(0) + y; }},
    {"mean of all added", [](const Tensor& x, const Tensor& y) { return x.mean() + y; }},
    {"sums multiplied", [](const Tensor& x, const Tensor& y) { return x.sum(0) * y; }},
    {"times the norm", [](const Tensor& x, const Tensor&) { return x * x.norm(); }},
    {"largest of a row", [](const Tensor& x, const Tensor& y) { return x.max(1, true).first + y; }},
    {"times a loss", [](const Tensor& x, const Tensor& y) { return F::mse_loss(x, y) * x; }},
    {"product of three", [](const Tensor& x, const Tensor& y) { return x.mm(y.t()).mm(x); }},
    {"linear", [](const Tensor& x, const Tensor& y) { return F::linear(x, y.slice(0, 0, kColumns)); }},
    {"a row added", [](const Tensor& x, const Tensor& y) { return x + y[1]; }},
    {"times a column", [](const Tensor& x, const Tensor& y) { return x * y.select(1, 2).unsqueeze(1); }},
    {"transposed, viewed", [](const Tensor& x, const Tensor&) { return x.t().contiguous().view({kRows, kColumns}); }},
    {"permuted, reshaped", [](const Tensor& x, const Tensor&) { return x.permute({1, 0}).reshape({kRows, kColumns}); }},
    {"flattened", [](const Tensor& x, const Tensor& y) { return x.flatten().view({kRows, kColumns}) * y; }},
    {"moved about", [](const Tensor& x, const Tensor& y) { return x.unsqueeze(0).transpose(0, 2).squeeze(2).t() + y; }},
    {"expanded, summed", [](const Tensor& x, const Tensor&) { return x.expand({2, kRows, kColumns}).sum(0) * 0.5; }},
    {"rows joined", [](const Tensor& x, const Tensor& y) { return hvd::cat({x.slice(0, 0, 2), y.slice(0, 2, kRows)}); }},
    {"columns joined", [](const Tensor& x, const Tensor& y) { return hvd::cat({x.narrow(1, 0, 1), y.narrow(1, 1, 2)}, 1); }},
    {"stacked", [](const Tensor& x, const Tensor& y) { return hvd::stack({x, y}).mean(0); }},
    {"split", [](const Tensor& x, const Tensor& y) { const auto parts = x.split(2); return hvd::cat({parts[1], parts[0]}) + y; }},
    {"chunks", [](const Tensor& x, const Tensor& y) { const auto parts = x.chunk(3, 1); return parts[0] * parts[2] + parts[1] + y; }},
    {"rows chosen, one twice", [](const Tensor& x, const Tensor&) { return x.index_select(0, indices({1, 1, 3, 0})); }},
    {"gathered", [](const Tensor& x, const Tensor&) { return x.gather(1, indices({0, 2, 2, 1, 1, 1, 0, 0, 2, 0, 1, 2}).view({kRows, kColumns})); }},
    {"added in place", [](const Tensor& x, const Tensor& y) { Tensor z = x * 1.0; z.add_(y); return z; }},
    {"multiplied in place", [](const Tensor& x, const Tensor& y) { Tensor z = x + 0.0; z.mul_(y); return z; }},
    {"a copy, changed twice", [](const Tensor& x, const Tensor& y) { Tensor z = x.clone(); z += y * 2; z *= 0.5; return z; }},
};

/// The number that graph `seed` makes of the leaves, and what it is made of.
Tensor number(unsigned seed, const std::vector<Tensor>& leaves, std::string* text = nullptr) {
  std::mt19937 dice(seed);
  std::vector<Tensor> values = leaves;
  const unsigned nodes = 3 + dice() % 6;
  for (unsigned i = 0; i < nodes; ++i) {
    const size_t a = dice() % values.size(), b = dice() % values.size();
    const Node& node = kNodes[dice() % std::size(kNodes)];
    values.push_back(node.make(values[a], values[b]));
    if (text) *text += std::to_string(values.size() - 1) + " = " + node.name + "(" + std::to_string(a) + ", " + std::to_string(b) + "); ";
  }
  const Tensor last = values.back();
  switch (dice() % 4) {
    case 0: return last.sum() * 0.3;
    case 1: return last.mean();
    case 2: return last.sum(0).square().mean();
    default: return last.sum() + values[values.size() - 2].square().mean();
  }
}

std::vector<Tensor> leaves_of(unsigned seed) {
  hvd::manual_seed(seed);
  std::vector<Tensor> leaves;
  for (int i = 0; i < 2; ++i) leaves.push_back(hvd::randn({kRows, kColumns}).requires_grad_());
  return leaves;
}

class CoreRandomGraphs : public ::testing::TestWithParam<unsigned> {};

TEST_P(CoreRandomGraphs, GradientsAreThoseOfFiniteDifferences) {
  const core_tests::Defaults restored;
  hvd::set_default_dtype(hvd::kFloat64);
  unsigned compared = 0;
  for (unsigned seed = GetParam(); seed < kGraphs; seed += kParts) {
    const std::vector<Tensor> leaves = leaves_of(seed);
    std::string text;
    const Tensor value = number(seed, leaves, &text);
    // Where powers of powers grow without bound, differences say nothing.
    if (!value.requires_grad() || !std::isfinite(value.item<double>()) || std::abs(value.item<double>()) > 1e4) continue;
    value.backward(Tensor(), true);
    value.backward();
    ++compared;
    const hvd::NoGradGuard without;
    double worst = 0, largest = 1;
    for (const Tensor& leaf : leaves) {
      if (!leaf.grad().defined()) continue;
      const Tensor gradient = leaf.grad().contiguous();
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        double* at = leaf.data_ptr<double>() + i;
        const double before = *at, step = 1e-6;
        *at = before + step;
        const double above = number(seed, leaves).item<double>();
        *at = before - step;
        const double below = number(seed, leaves).item<double>();
        *at = before;
        const double slope = (above - below) / (2 * step);
        worst = std::max(worst, std::abs(gradient.data_ptr<double>()[i] / 2 - slope));
        largest = std::max(largest, std::abs(slope));
      }
    }
    EXPECT_LE(worst, 1e-4 * largest) << "graph " << seed << ": " << text;
  }
  EXPECT_GT(compared, kGraphs / kParts / 2) << "too few graphs have a number that can be differentiated";
}

INSTANTIATE_TEST_SUITE_P(All, CoreRandomGraphs, ::testing::Range(0u, kParts));

}  // namespace
}  // namespace core_random_graphs_test
