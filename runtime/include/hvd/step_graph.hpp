// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace hvd {

/// A training step that the host asks for once and the GPU then repeats: for networks whose kernels take less time than it takes the host to
/// ask for them. On a GPU the first calls run the step as it stands; then it is noted, as CUDA graphs, and the calls that follow copy their
/// inputs to where the graphs read them and put the graphs on the GPU. On other devices, and for inputs of other sizes or dtypes than those
/// that were noted, every call runs the step.
///
///   hvd::StepGraph step([&](const std::vector<hvd::Tensor>& in) -> std::vector<hvd::Tensor> {
///     optimizer.zero_grad();
///     hvd::Tensor loss = hvd::nn::functional::cross_entropy(model->forward(in[0]), in[1]);
///     loss.backward();
///     optimizer.step();
///     return {loss};
///   });
///   for (const auto& batch : *loader) total += step({batch.data.to(device), batch.target.to(device)})[0].item<double>();
///
/// Repeated as in every call of the step itself: forward and backward, gradients, draws (the same numbers as without graphs), running
/// statistics, zero_grad(), the steps of optimizers and of learning-rate schedules, reductions of gradients over ranks. Everything else that
/// the host does in the step it does once, when the step is noted: numbers that it passes (such as a factor of the loss), and conditions, stay
/// what they were then.
///
/// An error (hvd::Error) rather than another result where the step cannot be repeated: the host reads a number of the GPU in it (item(), norms
/// for clipping), draws on the host, hands a tensor of the host to the GPU, or uses a loss scaler; an optimizer class of the program's own steps in
/// it; a tensor that the step reads and that is no input has been replaced; gradients stand otherwise than when the step was noted. Make those
/// parts of the program outside of the step.
///
/// It is a std::function like the one that it is made from: called with inputs that lie on one GPU; the results are without history, and the
/// caller's own. Copies share what has been noted.
class StepGraph : public std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> {
 public:
  /// Returns tensors of the GPU. What it refers to, optimizers above all, outlives this object.
  using Step = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
  /// `runs`: calls with inputs of the same sizes and dtypes that run the step as it stands before it is noted; at least 1.
  explicit StepGraph(Step step, int runs = 3);
  /// Whether the step has been noted.
  bool noted() const;

 private:
  struct Impl;
  explicit StepGraph(const std::shared_ptr<Impl>& impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace hvd
