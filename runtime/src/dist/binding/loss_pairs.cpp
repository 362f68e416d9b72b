// SPDX-License-Identifier: Apache-2.0
#include "loss_pairs.hpp"

#include <string>
#include <unordered_set>
#include <vector>

#include <hvd/core/error.hpp>

#include "core/node.hpp"

namespace hvd::dist {

namespace {

using autograd::Node;

// Element by element, or a reduction. Anything else is taken for the network's last layer.
bool is_arithmetic(const std::string& name) {
  static const std::unordered_set<std::string> kNames{"abs", "add", "clamp", "div", "exp", "log", "mul", "neg", "norm", "pow", "rdiv", "rsub", "sqrt", "square", "sub",
                                                      "sum", "softplus", "leaky_relu", "sigmoid", "tanh"};
  return kNames.count(name) > 0;
}

std::string text_of(const Node::Extents& e) {
  return "[" + std::to_string(e.extent[0]) + (e.dimensions == 2 ? ", " + std::to_string(e.extent[1]) : "") + "]";
}

// The samples along two dimensions of the result, and along one of the operand that comes from the network.
void check(const Node& node, std::int64_t rows) {
  const Node::Extents& out = node.output();
  if (out.dimensions != 2 || out.extent[0] != rows || out.extent[1] != rows) return;
  for (const auto& edge : node.edges()) {
    if (!edge) continue;
    const Node::Extents& in = edge->output();
    const bool column = in.dimensions == 2 && in.extent[0] == rows && in.extent[1] == 1;
    const bool row = (in.dimensions == 1 && in.extent[0] == rows) || (in.dimensions == 2 && in.extent[0] == 1 && in.extent[1] == rows);
    if (column || row)
      throw Error("HVD4002: the loss combines a tensor of shape " + text_of(in) + " with one that makes it " + text_of(out) +
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
