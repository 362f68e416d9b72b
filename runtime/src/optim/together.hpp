// SPDX-License-Identifier: Apache-2.0
//
// The updates of one step of an optimizer, collected: parameters of one device and dtype that are updated with the same numbers go to
// the device together.
#pragma once

#include "core/tensor_impl.hpp"
#include "optim/options.hpp"

#include <initializer_list>
#include <vector>

namespace hvd::optim {

template <class Update>
class UpdatesTogether {
 public:
  /// `kept` as the device's update names it; undefined tensors are what the update lacks.
  void add(const Tensor& p, const Update& update, std::initializer_list<Tensor> kept) {
    const backends::Backend* const backend = &core::backend_of(p);
    const Tensor grad = dense_grad(p);
    backends::ParamBuffers buffers{p.numel(), grad.raw_data(), {}, p.raw_data()};
    size_t k = 0;
    for (const Tensor& tensor : kept) buffers.kept[k++] = tensor.defined() ? tensor.raw_data() : nullptr;
    Lot& lot = lot_of({backend, p.dtype(), update});
    lot.params.push_back(buffers);
    lot.holds.push_back(grad);
    updated_.push_back(p);
  }

  /// Runs them: `all` is the device's function for many parameters.
  void run(void (backends::Backend::*all)(Dtype, const std::vector<backends::ParamBuffers>&, const Update&) const) {
    for (const Lot& lot : lots_) (lot.kind.backend->*all)(lot.kind.dtype, lot.params, lot.kind.update);
    for (const Tensor& p : updated_) p.storage()->bump_version();
  }

 private:
  struct Kind {
    const backends::Backend* backend;
    Dtype dtype;
    Update update;
    bool operator==(const Kind&) const = default;
  };
  struct Lot {
    Kind kind;
    std::vector<backends::ParamBuffers> params;
    std::vector<Tensor> holds;  // gradients, until the update has been asked for
  };

  // There are few kinds, and mostly one.
  Lot& lot_of(const Kind& kind) {
    for (Lot& lot : lots_)
      if (lot.kind == kind) return lot;
    return lots_.emplace_back(Lot{kind, {}, {}});
  }

  std::vector<Lot> lots_;
  std::vector<Tensor> updated_;
};

}  // namespace hvd::optim
