// SPDX-License-Identifier: Apache-2.0
#include "number_pairs.hpp"

#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <ATen/core/grad_mode.h>

#include <hvd/dist/failure.hpp>

namespace hvd::torch_binding {

namespace {

thread_local NumberPairs* looking = nullptr;  // the one whose callback is on

template <class F>
void for_each_tensor(const c10::IValue& value, F&& f) {
  if (value.isTensor()) f(value.toTensor());
  else if (value.isTensorList())
    for (const at::Tensor& t : value.toTensorVector()) f(t);
}

}  // namespace

struct NumberPairs::Operands final : at::ObserverContext {
  bool samples = false, column = false, row = false;
};

void NumberPairs::begin(std::int64_t rows) {
  end();
  if (rows < 2) return;  // one sample shows nothing
  rows_ = rows;
  resume();
}

void NumberPairs::end() {
  pause();
  rows_ = 0;
  samples_.clear();
}

void NumberPairs::hand_step(std::int64_t number, std::int64_t rows) {
  if (number == hand_number_) return;
  hand_number_ = number;
  constexpr std::int64_t kFirst = 4;
  const std::int64_t n = hand_steps_[at::GradMode::is_enabled() ? 1 : 0]++;
  if (n < kFirst || (n & (n - 1)) == 0) begin(rows);
  else end();
}

void NumberPairs::note(const at::Tensor& samples) {
  if (rows_ == 0 || !samples.defined()) return;
  samples_.emplace(samples.unsafeGetTensorImpl(), c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>(samples.getIntrusivePtr()));
}

void NumberPairs::pause() {
  if (handle_ == at::INVALID_CALLBACK_HANDLE) return;
  at::removeCallback(handle_);
  handle_ = at::INVALID_CALLBACK_HANDLE;
  looking = nullptr;
}

void NumberPairs::resume() {
  if (rows_ == 0 || looking) return;
  looking = this;
  handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&before, &after).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
}

void NumberPairs::refuse() {
  if (found_.empty()) return;
  pause();
  throw dist::Failure<std::runtime_error>(std::exchange(found_, std::string()));
}

std::unique_ptr<at::ObserverContext> NumberPairs::before(const at::RecordFunction& operation) {
  auto operands = std::make_unique<Operands>();
  if (looking)
    for (const c10::IValue& value : operation.inputs()) looking->look(value, *operands);
  return operands;
}

void NumberPairs::after(const at::RecordFunction& operation, at::ObserverContext* operands) {
  if (!looking || !static_cast<const Operands*>(operands)->samples) return;
  for (const c10::IValue& value : operation.outputs()) looking->made(value, *static_cast<const Operands*>(operands));
}

void NumberPairs::look(const c10::IValue& value, Operands& operands) const {
  for_each_tensor(value, [&](const at::Tensor& t) {
    if (!is_of_samples(t)) return;
    operands.samples = true;
    operands.column = operands.column || (t.dim() == 2 && t.size(0) == rows_ && t.size(1) == 1);
    operands.row = operands.row || (t.dim() == 1 && t.size(0) == rows_);
  });
}

void NumberPairs::made(const c10::IValue& value, const Operands& operands) {
  for_each_tensor(value, [&](const at::Tensor& t) {
    if (!t.defined() || (t.is_leaf() && t.requires_grad())) return;  // a parameter that an optimizer has changed
    if (operands.column && operands.row && t.dim() == 2 && t.size(0) == rows_ && t.size(1) == rows_ && found_.empty()) {
      std::ostringstream text;
      text << "HVD4002: a number combines a tensor of shape [" << rows_ << ", 1] with one of shape [" << rows_
           << "]: every sample of the batch with every other, and a rank has its " << rows_ << " only; bring both to one shape (squeeze the results, or unsqueeze the targets)";
      found_ = text.str();
    }
    note(t);
  });
}

}  // namespace hvd::torch_binding
