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

void pair_of(IntList list, int64_t out[2], const char* what, const char* layer = "Conv2d") {
  if (list.size() != 1 && list.size() != 2) throw Error(std::string(layer) + ": " + what + " takes 1 or 2 numbers, not " + to_string(list));
  out[0] = list[0];
  out[1] = list[list.size() - 1];
}

/// The weights of a convolution from `first` channels to `second` channels of a group.
template <class Options>
Tensor empty_kernels(const Options& o, int64_t first, int64_t second, const char* layer) {
  const int64_t in = positive(o.in_channels(), layer, "in_channels"), out = positive(o.out_channels(), layer, "out_channels");
  const int64_t groups = positive(o.groups(), layer, "groups");
  if (in % groups != 0 || out % groups != 0)
    throw Error(std::string(layer) + ": " + std::to_string(in) + " input and " + std::to_string(out) + " output channels do not divide into " +
                std::to_string(groups) + " groups");
  const int64_t kh = positive(o.kernel_size()[0], layer, "kernel_size"), kw = positive(o.kernel_size()[1], layer, "kernel_size");
  return empty({first, second / groups, kh, kw});
}

IntList both(const int64_t* pair) { return IntList(pair, 2); }

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
Conv2dOptions& Conv2dOptions::dilation(IntList value) { return pair_of(value, dilation_, "dilation"), *this; }
Conv2dOptions& Conv2dOptions::groups(int64_t value) { return groups_ = value, *this; }
Conv2dOptions& Conv2dOptions::bias(bool value) { return bias_ = value, *this; }

Conv2dImpl::Conv2dImpl(const Conv2dOptions& options) : options(options) {
  weight = register_parameter("weight", empty_kernels(options, options.out_channels(), options.in_channels(), "Conv2d"));
  bias = register_parameter("bias", options.bias() ? empty({options.out_channels()}) : Tensor());
  reset_parameters();
}
void Conv2dImpl::reset_parameters() { reset_affine(weight, bias); }
Tensor Conv2dImpl::forward(const Tensor& x) {
  return functional::conv2d(x, weight, bias, both(options.stride()), both(options.padding()), both(options.dilation()), options.groups());
}

ConvTranspose2dOptions::ConvTranspose2dOptions(int64_t in_channels, int64_t out_channels, IntList kernel_size) : in_(in_channels), out_(out_channels) {
  pair_of(kernel_size, kernel_, "kernel size", "ConvTranspose2d");
}
ConvTranspose2dOptions& ConvTranspose2dOptions::stride(IntList value) { return pair_of(value, stride_, "stride", "ConvTranspose2d"), *this; }
ConvTranspose2dOptions& ConvTranspose2dOptions::padding(IntList value) { return pair_of(value, padding_, "padding", "ConvTranspose2d"), *this; }
ConvTranspose2dOptions& ConvTranspose2dOptions::output_padding(IntList value) {
  return pair_of(value, output_padding_, "output padding", "ConvTranspose2d"), *this;
}
ConvTranspose2dOptions& ConvTranspose2dOptions::dilation(IntList value) { return pair_of(value, dilation_, "dilation", "ConvTranspose2d"), *this; }
ConvTranspose2dOptions& ConvTranspose2dOptions::groups(int64_t value) { return groups_ = value, *this; }
ConvTranspose2dOptions& ConvTranspose2dOptions::bias(bool value) { return bias_ = value, *this; }

ConvTranspose2dImpl::ConvTranspose2dImpl(const ConvTranspose2dOptions& options) : options(options) {
  weight = register_parameter("weight", empty_kernels(options, options.in_channels(), options.out_channels(), "ConvTranspose2d"));
  bias = register_parameter("bias", options.bias() ? empty({options.out_channels()}) : Tensor());
  reset_parameters();
}
void ConvTranspose2dImpl::reset_parameters() { reset_affine(weight, bias); }
Tensor ConvTranspose2dImpl::forward(const Tensor& x) {
  return functional::conv_transpose2d(x, weight, bias, both(options.stride()), both(options.padding()), both(options.output_padding()),
                                      options.groups(), both(options.dilation()));
}

Tensor AvgPool2dImpl::forward(const Tensor& x) { return functional::avg_pool2d(x, options); }
Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& x) { return functional::adaptive_avg_pool2d(x, options); }
Tensor LeakyReLUImpl::forward(const Tensor& x) { return functional::leaky_relu(x, negative_slope); }
Tensor GELUImpl::forward(const Tensor& x) { return functional::gelu(x, approximate); }

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
