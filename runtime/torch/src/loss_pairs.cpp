// SPDX-License-Identifier: Apache-2.0
#include "loss_pairs.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <hvd/dist/failure.hpp>

namespace hvd::torch_binding {

namespace {

using torch::autograd::Node;

// Do the rows of one run along another dimension of the common shape than those of the other?
bool pairs_up(const at::Tensor& a, const at::Tensor& b, std::int64_t rows) {
  const at::Tensor &more = a.dim() >= b.dim() ? a : b, &less = a.dim() >= b.dim() ? b : a;
  if (less.dim() == 0 || rows < 2) return false;
  if (more.dim() > less.dim()) {
    const std::int64_t along = more.dim() - less.dim();  // where the first dimension of the shorter one comes to lie
    return more.size(0) == rows && less.size(0) == rows && more.size(along) == 1;
  }
  // Broadcast already: one is repeated along the rows of the other, and the other along those of this one.
  const auto own = [&](const at::Tensor& t, std::int64_t d) { return t.size(d) == rows && t.stride(d) != 0; };
  const auto repeated = [&](const at::Tensor& t, std::int64_t d) { return t.size(d) == rows && t.stride(d) == 0; };
  for (std::int64_t i = 0; i < a.dim(); ++i)
    for (std::int64_t j = 0; j < a.dim(); ++j)
      if (i != j && own(a, i) && repeated(b, i) && own(b, j) && repeated(a, j)) return true;
  return false;
}

template <class Loss>
void check(Node* node, std::int64_t rows, const char* name) {
  auto* found = dynamic_cast<Loss*>(node);
  if (!found) return;
  const at::Tensor input = found->self_.unpack(), target = found->target_.unpack();
  if (!input.defined() || !target.defined() || !pairs_up(input, target, rows)) return;
  std::ostringstream text;
  text << "HVD4002: " << name << " compares " << input.sizes() << " with " << target.sizes() << ": every sample of the batch with every other, and a rank has its "
       << rows << " only; bring both to one shape (squeeze the results, or unsqueeze the targets)";
  throw dist::Failure<std::runtime_error>(text.str());
}

// Element by element, a reduction, or another shape of the same elements: what a loss that is written out is made of. Anything else is taken for the network's last layer.
bool is_arithmetic(const std::string& name) {
  static const std::unordered_set<std::string> kNames{"Add",  "Sub",  "Mul", "Div",  "Neg", "Abs",     "Pow",  "Square", "Exp",  "Log",   "Log1P", "Sqrt",
                                                      "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Clone", "ToCopy",
                                                      "Tanh", "Clamp", "Max", "Maximum", "Minimum", "Mean", "Sum", "Relu", "Sigmoid", "Softplus", "LogSigmoid"};
  const std::size_t end = name.find("Backward");
  return end != std::string::npos && kNames.count(name.substr(0, end)) > 0;
}

at::DimVector shape_of(const torch::autograd::InputMetadata& metadata) { return at::DimVector(metadata.zeros_like().sizes()); }

at::DimVector shape_of(const torch::autograd::Edge& edge) { return shape_of(edge.function->input_metadata(edge.input_nr)); }

// Does the operand have its extents from a parameter of so many numbers, by arithmetic alone: a scale for each feature, of which there may be as many as samples?
bool of_parameter(const torch::autograd::Edge& operand) {
  constexpr std::size_t kNodes = 16;
  const at::DimVector extents = shape_of(operand);
  std::vector<Node*> open{operand.function.get()};
  for (std::size_t i = 0; i < open.size() && i < kNodes; ++i) {
    if (const auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(open[i])) {
      if (leaf->variable.numel() == c10::multiply_integers(extents)) return true;
    } else if (is_arithmetic(open[i]->name())) {
      for (const auto& edge : open[i]->next_edges())
        if (edge.is_valid()) open.push_back(edge.function.get());
    }
  }
  return false;
}

// The shapes of the operands, as far as the graph holds them: of what takes no gradient only a product keeps something.
std::vector<at::DimVector> operands_of(const Node& node) {
  std::vector<at::DimVector> shapes;
  for (const auto& edge : node.next_edges()) shapes.push_back(edge.is_valid() ? shape_of(edge) : at::DimVector());
  if (const auto* product = dynamic_cast<const torch::autograd::generated::MulBackward0*>(&node); product && shapes.size() == 2) {
    const auto kept = [](const torch::autograd::SavedVariable& v) {
      const at::Tensor t = v.unpack();
      return t.defined() ? at::DimVector(t.sizes()) : at::DimVector();
    };
    if (shapes[0].empty()) shapes[0] = kept(product->self_);
    if (shapes[1].empty()) shapes[1] = kept(product->other_);
  }
  return shapes;
}

// An operation on two operands whose result has the samples along two dimensions, though the operand that comes from the network has them along one.
void check_arithmetic(const Node& node, std::int64_t rows) {
  if (rows < 2 || node.num_inputs() != 1) return;
  const at::DimVector result = shape_of(node.input_metadata(0));
  if (result.size() != 2 || result[0] != rows || result[1] != rows) return;
  const auto is_column = [rows](const at::DimVector& s) { return s.size() == 2 && s[0] == rows && s[1] == 1; };
  const auto is_row = [rows](const at::DimVector& s) { return (s.size() == 1 && s[0] == rows) || (s.size() == 2 && s[0] == 1 && s[1] == rows); };
  const std::vector<at::DimVector> operands = operands_of(node);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const torch::autograd::Edge& edge = node.next_edge(i);
    const bool column = is_column(operands[i]), row = is_row(operands[i]);
    if (!edge.is_valid() || (!column && !row) || of_parameter(edge)) continue;
    // As many features as samples beside a column are no row of samples.
    const at::DimVector& other = operands.size() == 2 ? operands[1 - i] : operands[i];
    if (operands.size() == 2 && !other.empty() && !(column ? is_row(other) : is_column(other))) continue;
    if (operands.size() == 2 && node.next_edge(1 - i).is_valid() && of_parameter(node.next_edge(1 - i))) continue;
    std::ostringstream text;
    text << "HVD4002: the loss combines a tensor of shape " << at::IntArrayRef(operands[i]) << " with one that makes it " << at::IntArrayRef(result)
         << ": every sample of the batch with every other, and a rank has its " << rows << " only; bring both to one shape (squeeze the results, or unsqueeze the targets)";
    throw dist::Failure<std::runtime_error>(text.str());
  }
}

}  // namespace

void refuse_pairs(const at::Tensor& loss, std::int64_t rows) {
  constexpr std::size_t kNodes = 64;
  struct Visit {
    Node* node;
    bool of_loss;  // the loss is made of it by arithmetic alone
  };
  std::vector<Visit> open{{loss.grad_fn().get(), true}};
  std::unordered_set<Node*> seen;
  for (std::size_t i = 0; i < open.size() && i < kNodes; ++i) {
    const auto [node, of_loss] = open[i];
    if (!node || !seen.insert(node).second) continue;
    check<torch::autograd::generated::MseLossBackward0>(node, rows, "mse_loss");
    check<torch::autograd::generated::SmoothL1LossBackward0>(node, rows, "smooth_l1_loss");
    check<torch::autograd::generated::HuberLossBackward0>(node, rows, "huber_loss");
    const bool arithmetic = of_loss && is_arithmetic(node->name());
    if (arithmetic) check_arithmetic(*node, rows);
    for (const auto& edge : node->next_edges()) open.push_back({edge.function.get(), arithmetic});
  }
}

}  // namespace hvd::torch_binding
