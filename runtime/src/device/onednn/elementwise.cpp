// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations on several threads; those of float32 that training spends time in have kernels of their own.
#include "device/draws.hpp"
#include "device/onednn/kernels.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/parallel.hpp"

#include <algorithm>

namespace hvd::backends {

namespace {

const char* at(const void* data, int64_t i, Dtype dtype) { return static_cast<const char*>(data) + i * static_cast<int64_t>(dtype_size(dtype)); }
char* at(void* data, int64_t i, Dtype dtype) { return static_cast<char*>(data) + i * static_cast<int64_t>(dtype_size(dtype)); }
const float* floats(const void* data) { return static_cast<const float*>(data); }
float* floats(void* data) { return static_cast<float*>(data); }

/// What an element costs, in elements that are only read and written.
int64_t cost_of(Unary op) {
  switch (op) {
    case Unary::kNeg:
    case Unary::kSquare:
    case Unary::kAbs:
    case Unary::kRelu:
    case Unary::kClamp:
    case Unary::kAdd:
    case Unary::kRsub:
    case Unary::kMul:
    case Unary::kDiv:
    case Unary::kStep:
    case Unary::kLeakyRelu: return 1;
    default: return 8;
  }
}

using BinaryKernel = void (*)(int64_t n, const float* a, const float* b, float* y);
BinaryKernel kernel_of(Binary op) {
  switch (op) {
    case Binary::kAdd: return kernels().add;
    case Binary::kSub: return kernels().sub;
    case Binary::kMul: return kernels().mul;
    case Binary::kReluGrad: return kernels().relu_grad;
    case Binary::kGeluGrad: return kernels().gelu_grad;
    default: return nullptr;
  }
}

/// Number of elements where all operands are dense in the same order, else -1.
int64_t dense_elements(const Extents& extents, const Operand& out, const Operand& a, const Operand& b) {
  int64_t n = 1;
  for (int d = extents.dims - 1; d >= 0; --d) {
    if (extents.size[d] != 1 && (out.stride[d] != n || a.stride[d] != n || b.stride[d] != n)) return -1;
    n *= extents.size[d];
  }
  return n;
}

}  // namespace

void OneDnn::unary(Unary op, Dtype dtype, int64_t n, const void* in, void* out, Scalar p, Scalar q) const {
  parallel_for(n, cost_of(op), [&](int64_t begin, int64_t end) {
    const void* x = at(in, begin, dtype);
    void* y = at(out, begin, dtype);
    if (dtype == Dtype::kFloat32 && op == Unary::kRelu) return kernels().relu(end - begin, floats(x), floats(y));
    if (dtype == Dtype::kFloat32 && op == Unary::kMul) return kernels().scale(end - begin, floats(x), p.to<float>(), floats(y));
    if (dtype == Dtype::kFloat32 && op == Unary::kGelu) return kernels().gelu(end - begin, floats(x), floats(y));
    Cpu::unary(op, dtype, end - begin, x, y, p, q);
  });
}

void OneDnn::binary(Binary op, const Extents& extents, const Operand& out, const Operand& a, const Operand& b) const {
  const BinaryKernel kernel = out.dtype == Dtype::kFloat32 ? kernel_of(op) : nullptr;
  const int64_t n = kernel ? dense_elements(extents, out, a, b) : -1;
  if (n < 0) return Cpu::binary(op, extents, out, a, b);
  parallel_for(n, op == Binary::kGeluGrad ? 8 : 1, [&](int64_t begin, int64_t end) {
    kernel(end - begin, floats(a.data) + begin, floats(b.data) + begin, floats(out.data) + begin);
  });
}

void OneDnn::axpy(Dtype dtype, int64_t n, double alpha, const void* x, void* y) const {
  parallel_for(n, 1, [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32)
      kernels().axpy(end - begin, static_cast<float>(alpha), floats(x) + begin, floats(y) + begin);
    else
      Cpu::axpy(dtype, end - begin, alpha, at(x, begin, dtype), at(y, begin, dtype));
  });
}

void OneDnn::add_rows(Dtype dtype, int64_t rows, int64_t columns, const void* bias, void* x) const {
  if (dtype != Dtype::kFloat32) return Cpu::add_rows(dtype, rows, columns, bias, x);
  parallel_for(rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = floats(x) + r * columns;
      kernels().add(columns, row, floats(bias), row);
    }
  });
}

void OneDnn::dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const {
  const auto threshold = static_cast<uint64_t>(p * 0x1p32);
  // Whole blocks of four elements; p = 1 has no threshold of 32 bits.
  if (draw.first % 4 != 0 || threshold > UINT32_MAX) return Cpu::dropout(dtype, n, x, mask, out, draw, p, scale);
  constexpr int64_t some = 1024;  // blocks whose mask is still in the first cache when it is used
  const int64_t blocks = n / 4, pieces = (blocks + some - 1) / some;
  parallel_for(pieces, 32 * some, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin * some; block < std::min(end * some, blocks); block += some) {
      const int64_t count = std::min(some, blocks - block), i = 4 * block;
      kernels().dropout_mask(count, draw.first / 4 + static_cast<uint64_t>(block), draw.seed, draw.counter, static_cast<uint32_t>(threshold), mask + i);
      if (dtype == Dtype::kFloat32) kernels().masked_scale(4 * count, floats(x) + i, mask + i, static_cast<float>(scale), floats(out) + i);
    }
  });
  const int64_t done = dtype == Dtype::kFloat32 ? 4 * blocks : 0;
  for (int64_t i = 4 * blocks; i < n; ++i) mask[i] = survives(draw, static_cast<uint64_t>(i), threshold);
  Cpu::masked_scale(dtype, n - done, at(x, done, dtype), mask + done, scale, at(out, done, dtype));
}

void OneDnn::masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const {
  if (dtype != Dtype::kFloat32) return Cpu::masked_scale(dtype, n, x, mask, scale, out);
  parallel_for(n, 1, [&](int64_t begin, int64_t end) {
    kernels().masked_scale(end - begin, floats(x) + begin, mask + begin, static_cast<float>(scale), floats(out) + begin);
  });
}

void OneDnn::sgd(Dtype dtype, int64_t n, const SgdUpdate& u, const void* grad, void* momentum_buffer, void* param) const {
  if (dtype != Dtype::kFloat32) return Cpu::sgd(dtype, n, u, grad, momentum_buffer, param);
  const auto lr = static_cast<float>(u.lr), decay = static_cast<float>(u.weight_decay), momentum = static_cast<float>(u.momentum);
  const auto fresh = static_cast<float>(u.first ? 1 : 1 - u.dampening);
  parallel_for(n, 2, [&](int64_t begin, int64_t end) {
    const float* g = floats(grad) + begin;
    float* p = floats(param) + begin;
    if (!momentum_buffer) return kernels().sgd(end - begin, lr, decay, g, p);
    kernels().sgd_momentum(end - begin, lr, decay, u.first ? 0.0f : momentum, fresh, u.nesterov ? 1.0f : 0.0f, u.nesterov ? momentum : 1.0f, g,
                           floats(momentum_buffer) + begin, p);
  });
}

void OneDnn::adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const {
  parallel_for(n, 4, [&](int64_t begin, int64_t end) {
    Cpu::adam(dtype, end - begin, update, at(grad, begin, dtype), at(exp_avg, begin, dtype), at(exp_avg_sq, begin, dtype), at(param, begin, dtype));
  });
}

}  // namespace hvd::backends
