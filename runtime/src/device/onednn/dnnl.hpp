// SPDX-License-Identifier: Apache-2.0
//
// What all uses of oneDNN share.
#pragma once

#include <hvd/core/types.hpp>

#include <dnnl.hpp>

namespace hvd::backends {

// oneDNN's engine is a constant; a stream belongs to the thread that uses it.
inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
inline dnnl::stream& stream() {
  static thread_local dnnl::stream own(engine());
  return own;
}

inline dnnl::memory::data_type dnnl_type(Dtype dtype) {
  return dtype == Dtype::kBFloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// Whether this processor multiplies bfloat16 by itself. oneDNN emulates it on older ones, slower than float32.
inline bool multiplies_bfloat16() {
  static const bool native = [] {
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    return isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
  }();
  return native;
}

/// Runs f; false when oneDNN has no such primitive.
template <class F>
bool supported(F&& f) {
  try {
    f();
    return true;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return false;
    throw;
  }
}

}  // namespace hvd::backends
