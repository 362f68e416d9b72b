// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/functional.hpp>
#include <hvd/nn/holder.hpp>

namespace hvd::nn {

class LinearOptions {
 public:
  LinearOptions(int64_t in_features, int64_t out_features) : in_(in_features), out_(out_features) {}
  LinearOptions& bias(bool value);
  int64_t in_features() const { return in_; }
  int64_t out_features() const { return out_; }
  bool bias() const { return bias_; }

 private:
  int64_t in_;
  int64_t out_;
  bool bias_ = true;
};

/// y = x W^T + b. Parameters: weight [out, in], bias [out]; both uniform on [-1/sqrt(in), 1/sqrt(in)] at first.
class LinearImpl : public Module {
 public:
  LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& x);

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
HVD_MODULE(Linear);

class Conv2dOptions {
 public:
  Conv2dOptions(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : Conv2dOptions(in_channels, out_channels, IntList{kernel_size, kernel_size}) {}
  Conv2dOptions(int64_t in_channels, int64_t out_channels, IntList kernel_size);
  Conv2dOptions& stride(int64_t value) { return stride(IntList{value, value}); }
  Conv2dOptions& stride(IntList value);
  Conv2dOptions& padding(int64_t value) { return padding(IntList{value, value}); }
  Conv2dOptions& padding(IntList value);
  Conv2dOptions& dilation(int64_t value) { return dilation(IntList{value, value}); }
  Conv2dOptions& dilation(IntList value);
  /// Input and output channels are cut into that many groups, which do not see each other; it divides both.
  Conv2dOptions& groups(int64_t value);
  Conv2dOptions& bias(bool value);
  int64_t in_channels() const { return in_; }
  int64_t out_channels() const { return out_; }
  const int64_t* kernel_size() const { return kernel_; }
  const int64_t* stride() const { return stride_; }
  const int64_t* padding() const { return padding_; }
  const int64_t* dilation() const { return dilation_; }
  int64_t groups() const { return groups_; }
  bool bias() const { return bias_; }

 private:
  int64_t in_;
  int64_t out_;
  int64_t kernel_[2];
  int64_t stride_[2] = {1, 1};
  int64_t padding_[2] = {0, 0};
  int64_t dilation_[2] = {1, 1};
  int64_t groups_ = 1;
  bool bias_ = true;
};

/// Cross-correlation of [N, C, H, W]. Parameters: weight [out, in / groups, kh, kw], bias [out]; uniform on
/// +-1/sqrt(in / groups kh kw) at first.
class Conv2dImpl : public Module {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : Conv2dImpl(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv2dImpl(const Conv2dOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& x);

  Conv2dOptions options;
  Tensor weight;
  Tensor bias;
};
HVD_MODULE(Conv2d);

class ConvTranspose2dOptions {
 public:
  ConvTranspose2dOptions(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : ConvTranspose2dOptions(in_channels, out_channels, IntList{kernel_size, kernel_size}) {}
  ConvTranspose2dOptions(int64_t in_channels, int64_t out_channels, IntList kernel_size);
  ConvTranspose2dOptions& stride(int64_t value) { return stride(IntList{value, value}); }
  ConvTranspose2dOptions& stride(IntList value);
  ConvTranspose2dOptions& padding(int64_t value) { return padding(IntList{value, value}); }
  ConvTranspose2dOptions& padding(IntList value);
  /// Rows and columns added at one end of the result.
  ConvTranspose2dOptions& output_padding(int64_t value) { return output_padding(IntList{value, value}); }
  ConvTranspose2dOptions& output_padding(IntList value);
  ConvTranspose2dOptions& dilation(int64_t value) { return dilation(IntList{value, value}); }
  ConvTranspose2dOptions& dilation(IntList value);
  ConvTranspose2dOptions& groups(int64_t value);
  ConvTranspose2dOptions& bias(bool value);
  int64_t in_channels() const { return in_; }
  int64_t out_channels() const { return out_; }
  const int64_t* kernel_size() const { return kernel_; }
  const int64_t* stride() const { return stride_; }
  const int64_t* padding() const { return padding_; }
  const int64_t* output_padding() const { return output_padding_; }
  const int64_t* dilation() const { return dilation_; }
  int64_t groups() const { return groups_; }
  bool bias() const { return bias_; }

 private:
  int64_t in_;
  int64_t out_;
  int64_t kernel_[2];
  int64_t stride_[2] = {1, 1};
  int64_t padding_[2] = {0, 0};
  int64_t output_padding_[2] = {0, 0};
  int64_t dilation_[2] = {1, 1};
  int64_t groups_ = 1;
  bool bias_ = true;
};

/// The transpose of Conv2d: [N, in, H, W] -> [N, out, ...], see functional::conv_transpose2d. Parameters: weight
/// [in, out / groups, kh, kw], bias [out]; uniform on +-1/sqrt(out / groups kh kw) at first.
class ConvTranspose2dImpl : public Module {
 public:
  ConvTranspose2dImpl(int64_t in_channels, int64_t out_channels, int64_t kernel_size)
      : ConvTranspose2dImpl(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit ConvTranspose2dImpl(const ConvTranspose2dOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& x);

  ConvTranspose2dOptions options;
  Tensor weight;
  Tensor bias;
};
HVD_MODULE(ConvTranspose2d);

class AvgPool2dImpl : public Module {
 public:
  AvgPool2dImpl(int64_t kernel_size) : options(kernel_size) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& options) : options(options) {}
  Tensor forward(const Tensor& x);

  AvgPool2dOptions options;
};
HVD_MODULE(AvgPool2d);

class AdaptiveAvgPool2dImpl : public Module {
 public:
  AdaptiveAvgPool2dImpl(int64_t output_size) : options(output_size) {}
  explicit AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& options) : options(options) {}
  Tensor forward(const Tensor& x);

  AdaptiveAvgPool2dOptions options;
};
HVD_MODULE(AdaptiveAvgPool2d);

class MaxPool2dImpl : public Module {
 public:
  MaxPool2dImpl(int64_t kernel_size) : options(kernel_size) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& options) : options(options) {}
  Tensor forward(const Tensor& x);

  MaxPool2dOptions options;
};
HVD_MODULE(MaxPool2d);

class ReLUImpl : public Module {
 public:
  Tensor forward(const Tensor& x);
};
HVD_MODULE(ReLU);

class LeakyReLUImpl : public Module {
 public:
  explicit LeakyReLUImpl(double negative_slope = 0.01) : negative_slope(negative_slope) {}
  Tensor forward(const Tensor& x);

  double negative_slope;
};
HVD_MODULE(LeakyReLU);

/// See functional::gelu.
class GELUImpl : public Module {
 public:
  explicit GELUImpl(std::string approximate = "none") : approximate(std::move(approximate)) {}
  Tensor forward(const Tensor& x);

  std::string approximate;
};
HVD_MODULE(GELU);

class SigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& x);
};
HVD_MODULE(Sigmoid);

class TanhImpl : public Module {
 public:
  Tensor forward(const Tensor& x);
};
HVD_MODULE(Tanh);

class SoftmaxImpl : public Module {
 public:
  explicit SoftmaxImpl(int64_t dim) : dim(dim) {}
  Tensor forward(const Tensor& x);

  int64_t dim;
};
HVD_MODULE(Softmax);

class LogSoftmaxImpl : public Module {
 public:
  explicit LogSoftmaxImpl(int64_t dim) : dim(dim) {}
  Tensor forward(const Tensor& x);

  int64_t dim;
};
HVD_MODULE(LogSoftmax);

/// See functional::dropout; the identity in eval mode.
class DropoutImpl : public Module {
 public:
  explicit DropoutImpl(double p = 0.5);
  Tensor forward(const Tensor& x);

  double p;
};
HVD_MODULE(Dropout);

/// Joins the dimensions from start_dim to end_dim.
class FlattenImpl : public Module {
 public:
  explicit FlattenImpl(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim(start_dim), end_dim(end_dim) {}
  Tensor forward(const Tensor& x);

  int64_t start_dim;
  int64_t end_dim;
};
HVD_MODULE(Flatten);

}  // namespace hvd::nn
