// SPDX-License-Identifier: Apache-2.0
//
// The tape: every recorded operation is a node with edges to the nodes that made its inputs.
#pragma once

#include <hvd/tensor.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace hvd::autograd {

class Node;

/// A value kept for backward: without history (there are no second derivatives), with the version it had.
struct SavedTensor {
  Tensor value;
  uint64_t version = 0;
};

/// Gradients for the inputs, in the order of the edges, from the gradient of the output. Undefined where there is none.
using BackwardFunction = std::function<std::vector<Tensor>(const Node&, const Tensor& grad)>;

class Node {
 public:
  Node(const char* name, std::vector<std::shared_ptr<Node>> edges, std::vector<SavedTensor> saved, BackwardFunction function);
  virtual ~Node();

  virtual std::vector<Tensor> apply(Tensor grad);
  virtual bool is_accumulator() const { return false; }

  const char* name() const { return name_; }
  uint64_t sequence() const { return sequence_; }
  const std::vector<std::shared_ptr<Node>>& edges() const { return edges_; }
  /// Whether input i takes a gradient.
  bool wants(size_t i) const { return edges_[i] != nullptr; }
  /// Saved value i; throws hvd::Error when it was overwritten since.
  const Tensor& saved(size_t i) const;
  /// Lets go of the saved values; a later backward through here throws.
  void release();

  /// The shape of the output, where it has one dimension or two; otherwise no dimension.
  struct Extents {
    int dimensions = 0;
    int64_t extent[2] = {0, 0};
  };
  const Extents& output() const { return output_; }
  void set_output(const Tensor& out);

  // State of the backward that is running.
  int64_t pending = 0;
  uint64_t visited_by = 0;
  Tensor incoming;

 protected:
  const char* name_;
  uint64_t sequence_;
  std::vector<std::shared_ptr<Node>> edges_;
  std::vector<SavedTensor> saved_;
  BackwardFunction function_;
  Extents output_;
  bool released_ = false;
};

/// Where the gradient of `t` goes: its node, the accumulator of a leaf, or null when it needs none.
std::shared_ptr<Node> edge_of(const Tensor& t);

/// Whether an operation on these inputs is to be recorded.
bool recording(std::initializer_list<const Tensor*> inputs);
bool recording(const std::vector<Tensor>& inputs);

/// Makes `out` the output of a node, if any input needs a gradient and recording is on; returns it. The saved values are
/// what the function finds by Node::saved; list `out` itself freely.
Tensor record(const char* name, const Tensor& out, const std::vector<Tensor>& inputs, const std::vector<Tensor>& saved,
              BackwardFunction function);

/// Same, for an operation that changed `target` in place, given the edges of the inputs from before the change.
void rebase(const char* name, const Tensor& target, std::vector<std::shared_ptr<Node>> edges, BackwardFunction function);

}  // namespace hvd::autograd
