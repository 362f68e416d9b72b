// SPDX-License-Identifier: Apache-2.0
#include "loss_pairs.hpp"

#include <string>
#include <unordered_set>
#include <vector>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "core/node.hpp"

namespace hvd::dist {

namespace {

using autograd::Node;

// Element by element, a reduction, or another shape of the same elements. Anything else is taken for the network's last layer.
bool is_arithmetic(const std::string& name) {
  static const std::unordered_set<std::string> kNames{"abs", "add", "clamp", "div", "exp", "log", "mul", "neg", "norm", "pow", "rdiv", "rsub", "sqrt", "square", "sub",
                                                      "sum", "view", "unsqueeze", "squeeze", "clone", "to", "softplus", "leaky_relu", "sigmoid", "tanh"};
  return kNames.count(name) > 0;
}

std::string text_of(const Node::Extents& e) {
  return "[" + std::to_string(e.extent[0]) + (e.dimensions == 2 ? ", " + std::to_string(e.extent[1]) : "") + "]";
}

Node::Extents extents_of(const Tensor& t) {
  Node::Extents e;
  if (t.defined() && t.dim() >= 1 && t.dim() <= 2) {
    e.dimensions = static_cast<int>(t.dim());
    for (int d = 0; d < e.dimensions; ++d) e.extent[d] = t.size(d);
  }
  return e;
}

std::int64_t numbers(const Node::Extents& e) { return e.dimensions == 0 ? 0 : e.dimensions == 1 ? e.extent[0] : e.extent[0] * e.extent[1]; }

// Does the operand have its extents from a parameter of so many numbers, by arithmetic alone: a scale for each feature, of which there may be as many as samples?
bool of_parameter(const Node& operand) {
  constexpr std::size_t kNodes = 16;
  const Node::Extents& made = operand.output();
  std::vector<const Node*> open{&operand};
  for (std::size_t i = 0; i < open.size() && i < kNodes; ++i) {
    const Node::Extents& e = open[i]->output();
    if (open[i]->is_accumulator()) {
      if (numbers(e) == numbers(made)) return true;
    } else if (is_arithmetic(open[i]->name())) {
      for (const auto& edge : open[i]->edges())
        if (edge) open.push_back(edge.get());
    }
  }
  return false;
}

// The samples along two dimensions of the result, and along one of the operand that comes from the network.
void check(const Node& node, std::int64_t rows) {
  const Node::Extents& out = node.output();
  if (out.dimensions != 2 || out.extent[0] != rows || out.extent[1] != rows) return;
  const auto is_column = [rows](const Node::Extents& e) { return e.dimensions == 2 && e.extent[0] == rows && e.extent[1] == 1; };
  const auto is_row = [rows](const Node::Extents& e) {
    return (e.dimensions == 1 && e.extent[0] == rows) || (e.dimensions == 2 && e.extent[0] == 1 && e.extent[1] == rows);
  };
  const auto& edges = node.edges();
  std::vector<Node::Extents> operands;
  for (std::size_t i = 0; i < edges.size(); ++i)  // of what takes no gradient only a product keeps something
    operands.push_back(edges[i] ? edges[i]->output() : edges.size() == 2 && std::string(node.name()) == "mul" ? extents_of(node.saved(i)) : Node::Extents());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool column = is_column(operands[i]), row = is_row(operands[i]);
    if (!edges[i] || (!column && !row) || of_parameter(*edges[i])) continue;
    if (edges.size() == 2) {
      // As many features as samples beside a column are no row of samples.
      const Node::Extents& other = operands[1 - i];
      if (other.dimensions > 0 && !(column ? is_row(other) : is_column(other))) continue;
      if (edges[1 - i] && of_parameter(*edges[1 - i])) continue;
    }
    throw dist::Failure<Error>("HVD4002: the loss combines a tensor of shape " + text_of(operands[i]) + " with one that makes it " + text_of(out) +
                ": every sample of the batch with every other, and a rank has its " + std::to_string(rows) +
                " only; bring both to one shape (squeeze the results, or unsqueeze the targets)");
  }
}

}  // namespace

void refuse_pairs(const Tensor& loss, std::int64_t rows) {
  if (rows < 2) return;
  constexpr std::size_t kNodes = 64;
  std::vector<std::shared_ptr<Node>> open{autograd::edge_of(loss)};
  std::unordered_set<const Node*> seen;
  for (std::size_t i = 0; i < open.size() && i < kNodes; ++i) {
    const std::shared_ptr<Node> node = open[i];
    if (!node || !seen.insert(node.get()).second || !is_arithmetic(node->name())) continue;
    check(*node, rows);
    open.insert(open.end(), node->edges().begin(), node->edges().end());
  }
}

}  // namespace hvd::dist
