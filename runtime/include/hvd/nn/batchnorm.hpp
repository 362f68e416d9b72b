// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/holder.hpp>

namespace hvd::nn {

class BatchNormOptions {
 public:
  BatchNormOptions(int64_t num_features) : features_(num_features) {}
  BatchNormOptions& eps(double value);
  BatchNormOptions& momentum(double value);
  BatchNormOptions& affine(bool value);
  int64_t num_features() const { return features_; }
  double eps() const { return eps_; }
  double momentum() const { return momentum_; }
  bool affine() const { return affine_; }

 private:
  int64_t features_;
  double eps_ = 1e-5;
  double momentum_ = 0.1;
  bool affine_ = true;
};

/// Batch normalisation (Ioffe, Szegedy 2015) per channel, the second dimension: what BatchNorm1d and BatchNorm2d share. Parameters: weight [C] (ones), bias [C] (zeros);
/// buffers: running_mean, running_var [C], num_batches_tracked (int64, 0-d). Training uses the statistics of the batch and
/// moves the running ones by `momentum` (running_var with the unbiased variance); eval uses the running ones.
///
/// Inside a step, where the context has a StatisticsReducer, a layer takes its statistics and the sums of its backward through it over the slices of all
/// ranks; an empty (filler) slice counts 0 rows. Without reducer it is the plain layer.
class BatchNormImpl : public Module {
 public:
  Tensor forward(const Tensor& x);

  BatchNormOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;

 protected:
  explicit BatchNormImpl(const BatchNormOptions& options);
  /// Throws hvd::Error for an input that is not made of such channels.
  virtual void check_input(const Tensor& x) const = 0;

 private:
  void track(const std::vector<double>& mean, const std::vector<double>& variance, double count);
  void track(const Tensor& mean, const Tensor& variance, double count);

};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;

/// Of [N, C] or [N, C, L].
class BatchNorm1dImpl : public BatchNormImpl {
 public:
  BatchNorm1dImpl(int64_t num_features) : BatchNorm1dImpl(BatchNorm1dOptions(num_features)) {}
  explicit BatchNorm1dImpl(const BatchNorm1dOptions& options) : BatchNormImpl(options) {}

 protected:
  void check_input(const Tensor& x) const override;
};
HVD_MODULE(BatchNorm1d);

/// Of [N, C, H, W].
class BatchNorm2dImpl : public BatchNormImpl {
 public:
  BatchNorm2dImpl(int64_t num_features) : BatchNorm2dImpl(BatchNorm2dOptions(num_features)) {}
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& options) : BatchNormImpl(options) {}

 protected:
  void check_input(const Tensor& x) const override;
};
HVD_MODULE(BatchNorm2d);

}  // namespace hvd::nn
