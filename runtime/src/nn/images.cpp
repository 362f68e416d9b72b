// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/nn/functional.hpp>

#include <algorithm>

namespace hvd::nn::functional {

using autograd::Node;
using backends::Window2d;
using Grads = std::vector<Tensor>;

namespace {

int64_t outputs(int64_t extent, int64_t kernel, int64_t stride, int64_t pad) {
  return extent + 2 * pad < kernel ? 0 : (extent + 2 * pad - kernel) / stride + 1;
}

struct Geometry {
  int64_t kernel[2], stride[2], padding[2];
  int64_t dilation[2] = {1, 1};
  int64_t groups = 1;
};

void check_geometry(const Geometry& g, const char* name) {
  for (int d = 0; d < 2; ++d)
    if (g.stride[d] < 1 || g.padding[d] < 0 || g.kernel[d] < 1 || g.dilation[d] < 1)
      throw Error(std::string(name) + ": kernel size, stride and dilation are at least 1, padding at least 0");
}

int64_t reach(const Geometry& g, int d) { return g.dilation[d] * (g.kernel[d] - 1) + 1; }

Window2d window_of(const Tensor& x, int64_t channels_out, const Geometry& g, const char* name) {
  check_geometry(g, name);
  Window2d w{x.size(0), x.size(1), x.size(2), x.size(3), channels_out, g.kernel[0], g.kernel[1], g.stride[0], g.stride[1],
             g.padding[0], g.padding[1], 0, 0, g.dilation[0], g.dilation[1], g.groups};
  w.oh = outputs(w.h, reach(g, 0), w.stride_h, w.pad_h);
  w.ow = outputs(w.w, reach(g, 1), w.stride_w, w.pad_w);
  if (w.oh < 1 || w.ow < 1)
    throw Error(std::string(name) + ": a window " + to_string({reach(g, 0), reach(g, 1)}) + " does not fit into an image " + to_string(x.sizes()));
  return w;
}

void check_image(const Tensor& x, const char* name) {
  core::check_real(x, name);
  if (x.dim() != 4) throw Error(std::string(name) + ": input [N, C, H, W] expected, not " + to_string(x.sizes()));
}

/// Sums of g [n, k, oh, ow] over all but channels.
Tensor channel_sums(const Tensor& g) {
  const Tensor out = core::make({g.size(1)}, g.dtype(), g.device());
  if (core::backend_of(g).channel_sums_on_device(g.dtype(), g.size(0), g.size(1), g.size(2) * g.size(3), g.raw_data(), out.raw_data())) return out;
  std::vector<double> sums(g.size(1));
  core::backend_of(g).channel_sums(g.dtype(), g.size(0), g.size(1), g.size(2) * g.size(3), g.raw_data(), sums.data());
  return tensor(sums, g.options());
}

void pair_of(IntList list, int64_t out[2], const char* name, const char* what) {
  if (list.size() != 1 && list.size() != 2) throw Error(std::string(name) + ": " + what + " takes 1 or 2 numbers, not " + to_string(list));
  out[0] = list[0];
  out[1] = list[list.size() - 1];
}

}  // namespace

namespace {

Geometry geometry_of(const Tensor& weight, IntList stride, IntList padding, IntList dilation, int64_t groups, const char* name) {
  Geometry g{{weight.size(2), weight.size(3)}, {}, {}};
  pair_of(stride, g.stride, name, "stride");
  pair_of(padding, g.padding, name, "padding");
  pair_of(dilation, g.dilation, name, "dilation");
  g.groups = groups;
  return g;
}

/// Weights are [K, C / groups, kh, kw], those of a transposed convolution [C, K / groups, kh, kw].
void check_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t groups, bool transposed, const char* name) {
  check_image(x, name);
  core::check_same_device(x, weight, name);
  if (x.dtype() != weight.dtype()) throw Error(std::string(name) + ": input is " + dtype_name(x.dtype()) + ", weight " + dtype_name(weight.dtype()));
  if (weight.dim() != 4 || groups < 1 || weight.size(0) % groups != 0 || (transposed ? weight.size(0) : weight.size(1) * groups) != x.size(1))
    throw Error(std::string(name) + ": input " + to_string(x.sizes()) + " and weight " + to_string(weight.sizes()) +
                (groups != 1 ? " in " + std::to_string(groups) + " groups" : "") + " do not fit");
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != (transposed ? weight.size(1) * groups : weight.size(0))))
    throw Error(std::string(name) + ": bias " + to_string(bias.sizes()) + " and weight " + to_string(weight.sizes()) + " do not fit");
}

// The backend's convolutions, and what they are for a batch without images.
Tensor convolve(const Window2d& w, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor out = core::make({w.n, w.k, w.oh, w.ow}, x.dtype(), x.device());
  if (w.n > 0) core::backend_of(x).conv2d(x.dtype(), w, x.raw_data(), weight.raw_data(), bias.defined() ? bias.raw_data() : nullptr, out.raw_data());
  return out;
}
Tensor convolve_back(const Window2d& w, const Tensor& g, const Tensor& weight) {
  const Tensor out = core::make({w.n, w.c, w.h, w.w}, g.dtype(), g.device());
  if (w.n > 0) core::backend_of(g).conv2d_grad_input(g.dtype(), w, g.raw_data(), weight.raw_data(), out.raw_data());
  return out;
}
Tensor weight_gradient(const Window2d& w, const Tensor& g, const Tensor& x, const Tensor& weight) {
  if (w.n == 0) return zeros_like(weight);
  const Tensor out = core::make_like(weight);
  core::backend_of(g).conv2d_grad_weight(g.dtype(), w, g.raw_data(), x.raw_data(), out.raw_data());
  return out;
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weights, const Tensor& biases, IntList stride, IntList padding, IntList dilation, int64_t groups) {
  const Tensor x = core::autocast_low(input), weight = core::autocast_low(weights), bias = core::autocast_low(biases);
  check_convolution(x, weight, bias, groups, false, "conv2d");
  const Window2d w = window_of(x, weight.size(0), geometry_of(weight, stride, padding, dilation, groups, "conv2d"), "conv2d");
  const Tensor in = x.contiguous(), kernels = weight.contiguous();
  const Tensor out = convolve(w, in, kernels, bias.defined() ? bias.detach().contiguous() : Tensor());
  return autograd::record("conv2d", out, {in, kernels, bias}, {in, kernels}, [w](const Node& node, const Tensor& grad) {
    const Tensor g = grad.contiguous();
    return Grads{node.wants(0) ? convolve_back(w, g, node.saved(1)) : Tensor(),
                 node.wants(1) ? weight_gradient(w, g, node.saved(0), node.saved(1)) : Tensor(), node.wants(2) ? channel_sums(g) : Tensor()};
  });
}

// The window is that of the convolution whose transpose this is: from the result to x.
Tensor conv_transpose2d(const Tensor& input, const Tensor& weights, const Tensor& biases, IntList stride, IntList padding, IntList output_padding,
                        int64_t groups, IntList dilation) {
  const Tensor x = core::autocast_low(input), weight = core::autocast_low(weights), bias = core::autocast_low(biases);
  const char* name = "conv_transpose2d";
  check_convolution(x, weight, bias, groups, true, name);
  const Geometry g = geometry_of(weight, stride, padding, dilation, groups, name);
  check_geometry(g, name);
  int64_t extra[2], size[2];
  pair_of(output_padding, extra, name, "output padding");
  for (int d = 0; d < 2; ++d) {
    size[d] = (x.size(d + 2) - 1) * g.stride[d] - 2 * g.padding[d] + reach(g, d) + extra[d];
    if (extra[d] < 0 || extra[d] >= std::max(g.stride[d], g.dilation[d]) || size[d] < 1 || x.size(d + 2) < 1)
      throw Error(std::string(name) + ": an image " + to_string(x.sizes()) + " gives none of " + std::to_string(size[d]) +
                  " rows or columns; output padding is smaller than stride or dilation");
  }
  const Window2d w{x.size(0), weight.size(1) * groups, size[0], size[1], x.size(1), g.kernel[0], g.kernel[1], g.stride[0], g.stride[1],
                   g.padding[0], g.padding[1], x.size(2), x.size(3), g.dilation[0], g.dilation[1], groups};
  const Tensor in = x.contiguous(), kernels = weight.contiguous();
  Tensor out = convolve_back(w, in.detach(), kernels);
  if (bias.defined()) out = out.add(bias.detach().view({w.c, 1, 1}));
  return autograd::record(name, out, {in, kernels, bias}, {in, kernels}, [w](const Node& node, const Tensor& grad) {
    const Tensor g = grad.contiguous();
    return Grads{node.wants(0) ? convolve(w, g, node.saved(1), {}) : Tensor(),
                 node.wants(1) ? weight_gradient(w, node.saved(0), g, node.saved(1)) : Tensor(), node.wants(2) ? channel_sums(g) : Tensor()};
  });
}

namespace {

template <class Options>
Geometry pool_geometry(const Options& o) {
  return {{o.kernel_size()[0], o.kernel_size()[1]}, {o.stride()[0], o.stride()[1]}, {o.padding()[0], o.padding()[1]}};
}

/// Averages over down x across of every plane; see Backend::mean_pool2d.
Tensor mean_pool(const Tensor& x, const backends::Spans& down, const backends::Spans& across, double divisor, const char* name) {
  const Tensor in = x.contiguous(), out = core::make({x.size(0), x.size(1), down.count(), across.count()}, x.dtype(), x.device());
  core::backend_of(x).mean_pool2d(x.dtype(), x.size(0) * x.size(1), x.size(2), x.size(3), down, across, divisor, in.raw_data(), out.raw_data());
  return autograd::record(name, out, {in}, {}, [from = x.sizes(), down, across, divisor](const Node&, const Tensor& grad) {
    const Tensor g = grad.contiguous(), gx = core::make(from, g.dtype(), g.device());
    core::backend_of(g).mean_pool2d_grad(g.dtype(), from[0] * from[1], from[2], from[3], down, across, divisor, g.raw_data(), gx.raw_data());
    return Grads{gx};
  });
}

/// What windows take in of an extent, padding left out.
backends::Spans window_spans(int64_t extent, int64_t outputs, int64_t kernel, int64_t stride, int64_t pad) {
  backends::Spans spans;
  for (int64_t i = 0; i < outputs; ++i) {
    spans.first.push_back(std::max<int64_t>(i * stride - pad, 0));
    spans.last.push_back(std::min(i * stride - pad + kernel, extent));
  }
  return spans;
}

backends::Spans adaptive_spans(int64_t extent, int64_t outputs) {
  backends::Spans spans;
  for (int64_t i = 0; i < outputs; ++i) {
    spans.first.push_back(i * extent / outputs);
    spans.last.push_back(((i + 1) * extent + outputs - 1) / outputs);
  }
  return spans;
}

}  // namespace

Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& options) {
  check_image(x, "avg_pool2d");
  const Window2d w = window_of(x, x.size(1), pool_geometry(options), "avg_pool2d");
  if (2 * w.pad_h > w.kh || 2 * w.pad_w > w.kw) throw Error("avg_pool2d: padding is at most half of the kernel size");
  return mean_pool(x, window_spans(w.h, w.oh, w.kh, w.stride_h, w.pad_h), window_spans(w.w, w.ow, w.kw, w.stride_w, w.pad_w),
                   options.count_include_pad() ? static_cast<double>(w.kh * w.kw) : 0, "avg_pool2d");
}

Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveAvgPool2dFuncOptions& options) {
  check_image(x, "adaptive_avg_pool2d");
  const int64_t oh = options.output_size()[0], ow = options.output_size()[1];
  if (oh < 1 || ow < 1 || x.size(2) < 1 || x.size(3) < 1)
    throw Error("adaptive_avg_pool2d: an image " + to_string(x.sizes()) + " has no average of " + to_string({oh, ow}));
  return mean_pool(x, adaptive_spans(x.size(2), oh), adaptive_spans(x.size(3), ow), 0, "adaptive_avg_pool2d");
}

Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& options) {
  check_image(x, "max_pool2d");
  const Window2d w = window_of(x, x.size(1), pool_geometry(options), "max_pool2d");
  if (2 * w.pad_h > w.kh || 2 * w.pad_w > w.kw) throw Error("max_pool2d: padding is at most half of the kernel size");
  if (w.h * w.w > INT32_MAX) throw Error("max_pool2d: image planes of at most 2^31 - 1 elements");
  const Tensor in = x.contiguous(), out = core::make({w.n, w.c, w.oh, w.ow}, x.dtype(), x.device());
  // Positions of the winners; the storage is typed by hand, as no public dtype has 32-bit integers.
  auto winners = std::make_shared<Storage>(out.numel() * sizeof(int32_t), core::backend_of(x).allocator());
  core::backend_of(x).max_pool2d(x.dtype(), w, in.raw_data(), out.raw_data(), static_cast<int32_t*>(winners->data()));
  return autograd::record("max_pool2d", out, {in}, {}, [w, winners](const Node&, const Tensor& grad) {
    const Tensor g = grad.contiguous(), gx = core::make({w.n, w.c, w.h, w.w}, g.dtype(), g.device());
    core::backend_of(g).max_pool2d_grad(g.dtype(), w, g.raw_data(), static_cast<const int32_t*>(winners->data()), gx.raw_data());
    return Grads{gx};
  });
}

}  // namespace hvd::nn::functional

namespace hvd::nn {

MaxPool2dOptions::MaxPool2dOptions(IntList kernel_size) {
  functional::pair_of(kernel_size, kernel_, "max_pool2d", "kernel size");
  stride_[0] = kernel_[0];
  stride_[1] = kernel_[1];
}
MaxPool2dOptions& MaxPool2dOptions::stride(IntList value) { return functional::pair_of(value, stride_, "max_pool2d", "stride"), *this; }
MaxPool2dOptions& MaxPool2dOptions::padding(IntList value) { return functional::pair_of(value, padding_, "max_pool2d", "padding"), *this; }

AvgPool2dOptions::AvgPool2dOptions(IntList kernel_size) {
  functional::pair_of(kernel_size, kernel_, "avg_pool2d", "kernel size");
  stride_[0] = kernel_[0];
  stride_[1] = kernel_[1];
}
AvgPool2dOptions& AvgPool2dOptions::stride(IntList value) { return functional::pair_of(value, stride_, "avg_pool2d", "stride"), *this; }
AvgPool2dOptions& AvgPool2dOptions::padding(IntList value) { return functional::pair_of(value, padding_, "avg_pool2d", "padding"), *this; }
AvgPool2dOptions& AvgPool2dOptions::count_include_pad(bool value) { return count_include_pad_ = value, *this; }
AdaptiveAvgPool2dOptions::AdaptiveAvgPool2dOptions(IntList output_size) {
  functional::pair_of(output_size, output_, "adaptive_avg_pool2d", "output size");
}

}  // namespace hvd::nn
