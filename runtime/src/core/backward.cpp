// SPDX-License-Identifier: Apache-2.0
//
// Backward: nodes run when all gradients of their output have arrived; of those that are ready the one recorded last goes
// first, accumulators before all. The order, and with it every sum, depends on nothing but the program.
#include "core/node.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/autograd.hpp>
#include <hvd/amp.hpp>
#include <hvd/context.hpp>

#include <queue>

namespace hvd::autograd {

namespace {

struct Later {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
    if (a->is_accumulator() != b->is_accumulator()) return b->is_accumulator();
    return a->sequence() < b->sequence();
  }
};

/// Marks all nodes below `root` and counts for each how many gradients it will get.
void count_arrivals(const std::shared_ptr<Node>& root, uint64_t run) {
  std::vector<Node*> todo = {root.get()};
  root->visited_by = run;
  root->pending = 0;
  root->incoming = Tensor();
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    for (const auto& next : node->edges()) {
      if (!next) continue;
      if (next->visited_by != run) {
        next->visited_by = run;
        next->pending = 0;
        next->incoming = Tensor();  // may be left from a backward that threw
        todo.push_back(next.get());
      }
      ++next->pending;
    }
  }
}

void deliver(Node& to, Tensor grad) {
  if (!grad.defined()) return;
  if (!to.incoming.defined()) {
    to.incoming = std::move(grad);
    return;
  }
  const auto& impl = to.incoming.impl();
  // What sum() hands back is one number that all elements show: nothing may be added to it in place.
  if (impl.use_count() == 1 && impl->storage.use_count() == 1 && to.incoming.is_contiguous())
    to.incoming.add_(grad);
  else
    to.incoming = to.incoming.add(grad);
}

void run(const std::shared_ptr<Node>& root, Tensor gradient, bool retain_graph) {
  count_arrivals(root, context().backward_generation);
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Later> ready;
  root->incoming = std::move(gradient);
  ready.push(root);
  while (!ready.empty()) {
    const std::shared_ptr<Node> node = ready.top();
    ready.pop();
    Tensor incoming = std::move(node->incoming);
    node->incoming = Tensor();
    node->visited_by = 0;
    // A node that no gradient reached passes none on, but those behind it must still be counted down.
    std::vector<Tensor> grads;
    if (incoming.defined()) grads = node->apply(std::move(incoming));
    if (!retain_graph) node->release();
    for (size_t i = 0; i < node->edges().size(); ++i) {
      const auto& next = node->edges()[i];
      if (!next) continue;
      if (i < grads.size()) deliver(*next, std::move(grads[i]));
      if (--next->pending == 0) ready.push(next);
    }
  }
}

}  // namespace
}  // namespace hvd::autograd

namespace hvd {

void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  TensorImpl& self = core::impl_of(*this, "backward");
  const std::shared_ptr<autograd::Node> root = autograd::edge_of(*this);
  if (!root) throw Error("backward: tensor " + to_string(self.sizes) + " was not computed from tensors that require gradients");
  if (!gradient.defined() && self.numel != 1)
    throw Error("backward: a gradient is needed for a tensor " + to_string(self.sizes) + "; only one-element tensors do without");
  if (gradient.defined() && (gradient.sizes() != self.sizes || gradient.dtype() != self.dtype))
    throw Error("backward: gradient " + to_string(gradient.sizes()) + " " + dtype_name(gradient.dtype()) + " for a tensor " +
                to_string(self.sizes) + " " + dtype_name(self.dtype));
  const NoGradGuard no_grad;
  const amp::AutocastGuard in_the_dtypes_of_forward(Dtype::kBFloat16, false);
  ++context().backward_generation;
  if (core::StepRecording* recording = context().step_recording) recording->backward_begins();
  autograd::BackwardObserver* observer = context().backward_observer;
  if (observer) observer->backward_begins(*this);
  autograd::run(root, gradient.defined() ? gradient.detach() : ones_like(*this), retain_graph);
  if (observer) observer->backward_ends(*this);
}

}  // namespace hvd
