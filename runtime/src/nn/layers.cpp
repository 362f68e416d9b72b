// SPDX-License-Identifier: Apache-2.0
#include <hvd/nn/init.hpp>
#include <hvd/nn/layers.hpp>
#include <hvd/nn/sequential.hpp>

#include <cmath>

namespace hvd::nn {

namespace {

int64_t positive(int64_t value, const char* layer, const char* what) {
  if (value < 1) throw Error(std::string(layer) + ": " + what + " is at least 1, not " + std::to_string(value));
  return value;
}

/// As LibTorch: weights by He et al. with a = sqrt(5), that is uniform on +-1/sqrt(fan_in), biases on the same interval.
void reset_affine(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(weight.numel() / weight.size(0)));
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void pair_of(IntList list, int64_t out[2], const char* what) {
  if (list.size() != 1 && list.size() != 2) throw Error(std::string("Conv2d: ") + what + " takes 1 or 2 numbers, not " + to_string(list));
  out[0] = list[0];
  out[1] = list[list.size() - 1];
}

}  // namespace

LinearOptions& LinearOptions::bias(bool value) { return bias_ = value, *this; }

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) {
  const int64_t in = positive(options.in_features(), "Linear", "in_features"), out = positive(options.out_features(), "Linear", "out_features");
  weight = register_parameter("weight", empty({out, in}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor());
  reset_parameters();
}
void LinearImpl::reset_parameters() { reset_affine(weight, bias); }
Tensor LinearImpl::forward(const Tensor& x) { return functional::linear(x, weight, bias); }

Conv2dOptions::Conv2dOptions(int64_t in_channels, int64_t out_channels, IntList kernel_size) : in_(in_channels), out_(out_channels) {
  pair_of(kernel_size, kernel_, "kernel size");
}
Conv2dOptions& Conv2dOptions::stride(IntList value) { return pair_of(value, stride_, "stride"), *this; }
Conv2dOptions& Conv2dOptions::padding(IntList value) { return pair_of(value, padding_, "padding"), *this; }
Conv2dOptions& Conv2dOptions::bias(bool value) { return bias_ = value, *this; }

Conv2dImpl::Conv2dImpl(const Conv2dOptions& options) : options(options) {
  const int64_t in = positive(options.in_channels(), "Conv2d", "in_channels"), out = positive(options.out_channels(), "Conv2d", "out_channels");
  const int64_t kh = positive(options.kernel_size()[0], "Conv2d", "kernel_size"), kw = positive(options.kernel_size()[1], "Conv2d", "kernel_size");
  weight = register_parameter("weight", empty({out, in, kh, kw}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor());
  reset_parameters();
}
void Conv2dImpl::reset_parameters() { reset_affine(weight, bias); }
Tensor Conv2dImpl::forward(const Tensor& x) {
  return functional::conv2d(x, weight, bias, {options.stride()[0], options.stride()[1]}, {options.padding()[0], options.padding()[1]});
}

Tensor MaxPool2dImpl::forward(const Tensor& x) { return functional::max_pool2d(x, options); }
Tensor ReLUImpl::forward(const Tensor& x) { return x.relu(); }
Tensor SigmoidImpl::forward(const Tensor& x) { return x.sigmoid(); }
Tensor TanhImpl::forward(const Tensor& x) { return x.tanh(); }
Tensor SoftmaxImpl::forward(const Tensor& x) { return x.softmax(dim); }
Tensor LogSoftmaxImpl::forward(const Tensor& x) { return x.log_softmax(dim); }

DropoutImpl::DropoutImpl(double p) : p(p) {
  if (!(p >= 0 && p <= 1)) throw Error("Dropout: probability " + std::to_string(p) + " is not between 0 and 1");
}
Tensor DropoutImpl::forward(const Tensor& x) { return functional::dropout(x, p, is_training()); }

Tensor FlattenImpl::forward(const Tensor& x) { return x.flatten(start_dim, end_dim); }

Tensor SequentialImpl::forward(const Tensor& x) {
  Tensor out = x;
  for (const auto& layer : layers_) out = layer->forward(out);
  return out;
}

}  // namespace hvd::nn
