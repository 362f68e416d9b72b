// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/functional.hpp>
#include <hvd/nn/holder.hpp>

namespace hvd::nn {

/// See functional::cross_entropy.
class CrossEntropyLossImpl : public Module {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {}) : options(std::move(options)) {}
  Tensor forward(const Tensor& logits, const Tensor& target);

  CrossEntropyLossOptions options;
};
HVD_MODULE(CrossEntropyLoss);

class NLLLossImpl : public Module {
 public:
  explicit NLLLossImpl(NLLLossOptions options = {}) : options(std::move(options)) {}
  Tensor forward(const Tensor& log_probabilities, const Tensor& target);

  NLLLossOptions options;
};
HVD_MODULE(NLLLoss);

/// See functional::binary_cross_entropy_with_logits.
class BCEWithLogitsLossImpl : public Module {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options = {}) : options(std::move(options)) {}
  Tensor forward(const Tensor& logits, const Tensor& target);

  BCEWithLogitsLossOptions options;
};
HVD_MODULE(BCEWithLogitsLoss);

class MSELossImpl : public Module {
 public:
  explicit MSELossImpl(MSELossOptions options = {}) : options(options) {}
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
HVD_MODULE(MSELoss);

}  // namespace hvd::nn
