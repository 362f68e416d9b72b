// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers that compare every sample of a batch with every other by a slip of shapes: predictions [n, 1] against labels [n].

#include <cstdint>
#include <string>
#include <unordered_map>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace hvd::torch_binding {

/// Looks at the operations of some steps, for what refuse_pairs does not see because no gradient flows there. Only what was made from samples of
/// the step counts: a vector of as many features as a rank has samples is none of them. The operations are looked at on this thread.
class NumberPairs {
 public:
  NumberPairs() = default;
  ~NumberPairs() { pause(); }
  NumberPairs(const NumberPairs&) = delete;
  NumberPairs& operator=(const NumberPairs&) = delete;

  /// A step with so many samples on this rank begins, and is looked at; forgets the one before.
  void begin(std::int64_t rows);
  void end();
  /// In the hand-written step of this number: begins, or ends, when it is a new one. The first ones and then ever fewer are looked at.
  void hand_step(std::int64_t number, std::int64_t rows);
  /// The tensor holds samples of the step.
  void note(const at::Tensor& samples);
  void pause();
  void resume();
  /// Throws std::runtime_error (HVD4002) when such an operation was seen. Said once.
  void refuse();

 private:
  struct Operands;
  static std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& operation);
  static void after(const at::RecordFunction& operation, at::ObserverContext* operands);
  void look(const c10::IValue& value, Operands& operands) const;
  void made(const c10::IValue& value, const Operands& operands);
  bool is_of_samples(const at::Tensor& t) const { return t.defined() && samples_.count(t.unsafeGetTensorImpl()) > 0; }

  // Nothing is kept alive; an address stays taken as long as it stands here.
  std::unordered_map<const void*, c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> samples_;
  std::int64_t rows_ = 0;         // 0: the step is not looked at
  std::int64_t hand_number_ = -1;  // of the hand-written step that was asked about last
  std::int64_t hand_steps_[2] = {0, 0};  // without and with gradients
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
  std::string found_;
};

}  // namespace hvd::torch_binding
