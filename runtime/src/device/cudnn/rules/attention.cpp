// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/rules/attention.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <tuple>

namespace hvd::backends::cuda::rules {

namespace {

// The scale is an operand of the plan.
auto key(const AttentionProblem& a) {
  const Attention& s = a.shape;
  return std::tuple(a.arithmetic, a.backward, s.n, s.heads, s.t, s.s, s.width, s.q_batch, s.q_row, s.k_batch, s.k_row, s.v_batch, s.v_row, s.mask_batches);
}

}  // namespace

bool operator<(const AttentionProblem& a, const AttentionProblem& b) { return key(a) < key(b); }

std::string describe(const AttentionProblem& a) {
  const Attention& s = a.shape;
  std::ostringstream text;
  text << "attention" << (a.backward ? ", gradients" : "") << ", of " << dtype_name(a.arithmetic.dtype) << ", samples " << s.n << ", heads " << s.heads
       << ", queries " << s.t << ", keys " << s.s << ", features " << s.width << ", masks " << s.mask_batches << ", strides " << s.q_batch << " " << s.q_row
       << " " << s.k_batch << " " << s.k_row << " " << s.v_batch << " " << s.v_row << (a.arithmetic.deterministic ? ", deterministic" : "");
  return text.str();
}

bool fits_cudnn(const AttentionProblem& a, size_t version) {
  const Attention& s = a.shape;
  if (!is_low_precision(a.arithmetic.dtype) || version < 91002) return false;
  if (std::min({s.n, s.heads, s.t, s.s, s.width}) < 1 || (s.t == 1 && s.s == 1)) return false;
  if (s.width % 8 != 0 || s.width > 128) return false;
  for (const int64_t stride : {s.q_batch, s.q_row, s.k_batch, s.k_row, s.v_batch, s.v_row})
    if (stride % 8 != 0) return false;
  if (s.mask_batches != 0 && s.s % 8 != 0) return false;
  if (s.mask_batches != 0 && s.mask_batches != 1 && s.mask_batches != s.n) return false;
  if (version < 91600 && s.s % 128 != 0) return false;
  return std::max({s.n * s.heads * s.t, s.n * std::max(s.q_batch, std::max(s.k_batch, s.v_batch)), s.mask_batches * s.t * s.s}) <= INT32_MAX;
}

}  // namespace hvd::backends::cuda::rules
