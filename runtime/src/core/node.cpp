// SPDX-License-Identifier: Apache-2.0
#include "core/node.hpp"

#include "core/accumulate.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

namespace hvd::autograd {

Node::Node(const char* name, std::vector<std::shared_ptr<Node>> edges, std::vector<SavedTensor> saved, BackwardFunction function)
    : name_(name), sequence_(context().next_node++), edges_(std::move(edges)), saved_(std::move(saved)), function_(std::move(function)) {}

// A long chain of nodes is taken down in a loop: recursion could run out of stack.
Node::~Node() {
  std::vector<std::shared_ptr<Node>> doomed = std::move(edges_);
  while (!doomed.empty()) {
    const std::shared_ptr<Node> node = std::move(doomed.back());
    doomed.pop_back();
    if (!node || node.use_count() > 1) continue;
    for (auto& edge : node->edges_) doomed.push_back(std::move(edge));
    node->edges_.clear();
  }
}

std::vector<Tensor> Node::apply(Tensor grad) {
  if (released_)
    throw Error(std::string("backward: the values saved by '") + name_ +
                "' were freed by an earlier backward; pass retain_graph to run it twice");
  return function_(*this, grad);
}

const Tensor& Node::saved(size_t i) const {
  const SavedTensor& s = saved_[i];
  if (s.value.defined() && s.value.storage()->version() != s.version)
    throw Error(std::string("backward: a tensor ") + to_string(s.value.sizes()) + " that '" + name_ +
                "' needs was changed in place after it was used");
  return s.value;
}

void Node::release() {
  if (saved_.empty()) return;
  for (SavedTensor& s : saved_) s.value = Tensor();
  released_ = true;
}

void Node::set_output(const Tensor& out) {
  if (out.dim() < 1 || out.dim() > 2) return;
  output_.dimensions = static_cast<int>(out.dim());
  for (int d = 0; d < output_.dimensions; ++d) output_.extent[d] = out.size(d);
}

std::shared_ptr<Node> edge_of(const Tensor& t) {
  if (!t.defined()) return nullptr;
  TensorImpl& impl = *t.impl();
  if (impl.grad_fn) return impl.grad_fn;
  return impl.requires_grad ? accumulator_of(t) : nullptr;
}

namespace {

bool needs_grad(const Tensor& t) { return t.defined() && (t.impl()->requires_grad || t.impl()->grad_fn); }

}  // namespace

bool recording(std::initializer_list<const Tensor*> inputs) {
  if (!grad_enabled()) return false;
  for (const Tensor* t : inputs)
    if (needs_grad(*t)) return true;
  return false;
}

bool recording(const std::vector<Tensor>& inputs) {
  if (!grad_enabled()) return false;
  for (const Tensor& t : inputs)
    if (needs_grad(t)) return true;
  return false;
}

Tensor record(const char* name, const Tensor& out, const std::vector<Tensor>& inputs, const std::vector<Tensor>& saved,
              BackwardFunction function) {
  if (!recording(inputs)) return out;
  std::vector<std::shared_ptr<Node>> edges;
  for (const Tensor& t : inputs) edges.push_back(edge_of(t));
  std::vector<SavedTensor> kept;
  for (const Tensor& t : saved) kept.push_back(t.defined() ? SavedTensor{t.detach(), t.storage()->version()} : SavedTensor{});
  out.impl()->grad_fn = std::make_shared<Node>(name, std::move(edges), std::move(kept), std::move(function));
  out.impl()->grad_fn->set_output(out);
  return out;
}

void rebase(const char* name, const Tensor& target, std::vector<std::shared_ptr<Node>> edges, BackwardFunction function) {
  target.impl()->grad_fn = std::make_shared<Node>(name, std::move(edges), std::vector<SavedTensor>{}, std::move(function));
}

}  // namespace hvd::autograd
