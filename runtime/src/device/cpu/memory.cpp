// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"
#include "device/cpu/strided.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hvd::backends {

namespace {

// A number that no int64 stands for, NaN and infinities among them, becomes the smallest one, as x86 processors have it; the language leaves
// it open.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, int64_t> && !std::is_integral_v<From>) {
    const auto wide = static_cast<std::conditional_t<std::is_same_v<From, double>, double, float>>(value);
    if (!(wide >= -0x1p63f && wide < 0x1p63f)) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(wide);
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_run(To* out, int64_t out_step, const From* in, int64_t in_step, int64_t n) {
  if (out_step == 1 && in_step == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = converted<To>(in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_step] = converted<To>(in[i * in_step]);
  }
}

}  // namespace

Allocator& Cpu::allocator() const { return hvd::allocator(MemoryKind::kMalloc); }

void Cpu::fill(void* out, Dtype dtype, int64_t n, Scalar value) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(static_cast<T*>(out), n, value.to<T>());
  });
}

void Cpu::copy(const Extents& extents, const Operand& out, const Operand& in) const {
  for_each_run<2>(extents, {&out, &in}, [&](const auto& offset, int64_t n, const auto& step) {
    if (out.dtype == in.dtype && step[0] == 1 && step[1] == 1) {
      const size_t size = dtype_size(out.dtype);
      std::memmove(static_cast<char*>(out.data) + offset[0] * size, static_cast<const char*>(in.data) + offset[1] * size, n * size);
      return;
    }
    dispatch_all(out.dtype, [&](auto to) {
      dispatch_all(in.dtype, [&](auto from) {
        convert_run(static_cast<decltype(to)*>(out.data) + offset[0], step[0], static_cast<const decltype(from)*>(in.data) + offset[1],
                    step[1], n);
      });
    });
  });
}

void Cpu::index_select(void* out, const void* in, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                       int64_t inner_bytes) const {
  char* to = static_cast<char*>(out);
  for (int64_t o = 0; o < outer; ++o) {
    const char* from = static_cast<const char*>(in) + o * length * inner_bytes;
    for (int64_t j = 0; j < n; ++j, to += inner_bytes) std::memcpy(to, from + index[j] * inner_bytes, inner_bytes);
  }
}

void Cpu::index_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                    int64_t inner) const {
  dispatch_real("index_select's gradient", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(in);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < n; ++j, from += inner) {
        T* to = static_cast<T*>(out) + (o * length + index[j]) * inner;
        for (int64_t i = 0; i < inner; ++i) to[i] += from[i];
      }
  });
}

void Cpu::gather(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                 int64_t inner) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out);
    for (int64_t o = 0; o < outer; ++o) {
      const T* from = static_cast<const T*>(in) + o * length * inner;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < inner; ++i) *to++ = from[*index++ * inner + i];
    }
  });
}

void Cpu::scatter_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                      int64_t inner) const {
  dispatch_real("gather's gradient", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(in);
    for (int64_t o = 0; o < outer; ++o) {
      T* to = static_cast<T*>(out) + o * length * inner;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < inner; ++i) to[*index++ * inner + i] += *from++;
    }
  });
}

}  // namespace hvd::backends
