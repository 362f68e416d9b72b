// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/nn/functional.hpp>

namespace hvd::nn::functional {

using autograd::Node;
using backends::Window2d;
using Grads = std::vector<Tensor>;

namespace {

int64_t outputs(int64_t extent, int64_t kernel, int64_t stride, int64_t pad) {
  return extent + 2 * pad < kernel ? 0 : (extent + 2 * pad - kernel) / stride + 1;
}

Window2d window_of(const Tensor& x, int64_t channels_out, const int64_t* kernel, const int64_t* stride, const int64_t* pad, const char* name) {
  Window2d w{x.size(0), x.size(1), x.size(2), x.size(3), channels_out, kernel[0], kernel[1], stride[0], stride[1], pad[0], pad[1], 0, 0};
  if (w.stride_h < 1 || w.stride_w < 1 || w.pad_h < 0 || w.pad_w < 0 || w.kh < 1 || w.kw < 1)
    throw Error(std::string(name) + ": kernel size and stride are at least 1, padding at least 0");
  w.oh = outputs(w.h, w.kh, w.stride_h, w.pad_h);
  w.ow = outputs(w.w, w.kw, w.stride_w, w.pad_w);
  if (w.oh < 1 || w.ow < 1)
    throw Error(std::string(name) + ": a window " + to_string({w.kh, w.kw}) + " does not fit into an image " + to_string(x.sizes()));
  return w;
}

void check_image(const Tensor& x, const char* name) {
  core::check_real(x, name);
  if (x.dim() != 4) throw Error(std::string(name) + ": input [N, C, H, W] expected, not " + to_string(x.sizes()));
}

/// Sums of g [n, k, oh, ow] over all but channels.
Tensor channel_sums(const Tensor& g) {
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

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding) {
  check_image(x, "conv2d");
  core::check_same_device(x, weight, "conv2d");
  if (x.dtype() != weight.dtype()) throw Error(std::string("conv2d: input is ") + dtype_name(x.dtype()) + ", weight " + dtype_name(weight.dtype()));
  if (weight.dim() != 4 || weight.size(1) != x.size(1))
    throw Error("conv2d: input " + to_string(x.sizes()) + " and weight " + to_string(weight.sizes()) + " do not fit");
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != weight.size(0)))
    throw Error("conv2d: bias " + to_string(bias.sizes()) + " and weight " + to_string(weight.sizes()) + " do not fit");
  int64_t s[2], p[2];
  pair_of(stride, s, "conv2d", "stride");
  pair_of(padding, p, "conv2d", "padding");
  const int64_t kernel[2] = {weight.size(2), weight.size(3)};
  const Window2d w = window_of(x, weight.size(0), kernel, s, p, "conv2d");
  const Tensor in = x.contiguous(), kernels = weight.contiguous(), out = core::make({w.n, w.k, w.oh, w.ow}, x.dtype(), x.device());
  const Tensor offsets = bias.defined() ? bias.detach().contiguous() : Tensor();
  core::backend_of(x).conv2d(x.dtype(), w, in.raw_data(), kernels.raw_data(), bias.defined() ? offsets.raw_data() : nullptr, out.raw_data());
  return autograd::record("conv2d", out, {in, kernels, bias}, {in, kernels}, [w](const Node& node, const Tensor& grad) {
    const Tensor g = grad.contiguous();
    const backends::Backend& backend = core::backend_of(g);
    Grads grads(3);
    if (node.wants(0)) {
      grads[0] = core::make_like(node.saved(0));
      backend.conv2d_grad_input(g.dtype(), w, g.raw_data(), node.saved(1).raw_data(), grads[0].raw_data());
    }
    if (node.wants(1)) {
      grads[1] = core::make_like(node.saved(1));
      backend.conv2d_grad_weight(g.dtype(), w, g.raw_data(), node.saved(0).raw_data(), grads[1].raw_data());
    }
    if (node.wants(2)) grads[2] = channel_sums(g);
    return grads;
  });
}

Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& options) {
  check_image(x, "max_pool2d");
  const Window2d w = window_of(x, x.size(1), options.kernel_size(), options.stride(), options.padding(), "max_pool2d");
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

}  // namespace hvd::nn
