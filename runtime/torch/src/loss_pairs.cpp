// SPDX-License-Identifier: Apache-2.0
#include "loss_pairs.hpp"

#include <sstream>
#include <stdexcept>
#include <unordered_set>
#include <vector>

#include <torch/csrc/autograd/generated/Functions.h>

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
  throw std::runtime_error(text.str());
}

}  // namespace

void refuse_pairs(const at::Tensor& loss, std::int64_t rows) {
  constexpr std::size_t kNodes = 64;
  std::vector<Node*> open{loss.grad_fn().get()};
  std::unordered_set<Node*> seen;
  for (std::size_t i = 0; i < open.size() && i < kNodes; ++i) {
    Node* node = open[i];
    if (!node || !seen.insert(node).second) continue;
    check<torch::autograd::generated::MseLossBackward0>(node, rows, "mse_loss");
    check<torch::autograd::generated::SmoothL1LossBackward0>(node, rows, "smooth_l1_loss");
    check<torch::autograd::generated::HuberLossBackward0>(node, rows, "huber_loss");
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
}

}  // namespace hvd::torch_binding
