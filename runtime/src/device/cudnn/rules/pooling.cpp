// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/rules/pooling.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace hvd::backends::cuda::rules {

namespace {

/// Windows along one dimension: output i takes in [i stride - pad, i stride - pad + kernel), cut at the ends.
struct Windows {
  int64_t kernel, stride, pad;
};

bool gives(const Windows& w, const Spans& spans, int64_t extent) {
  if (w.kernel < 1 || w.stride < 1 || w.pad < 0 || 2 * w.pad > w.kernel || extent + 2 * w.pad < w.kernel) return false;
  if ((extent + 2 * w.pad - w.kernel) / w.stride + 1 != spans.count()) return false;  // as cuDNN counts
  for (int64_t i = 0; i < spans.count(); ++i) {
    const int64_t begin = i * w.stride - w.pad;
    if (spans.first[i] != std::max<int64_t>(begin, 0) || spans.last[i] != std::min(begin + w.kernel, extent)) return false;
  }
  return true;
}

/// Whatever numbers give these spans are right ones.
std::optional<Windows> windows_of(const Spans& spans, int64_t extent) {
  const int64_t n = spans.count();
  if (n < 1) return std::nullopt;
  const int64_t stride = n == 1 ? std::max<int64_t>(extent, 1) : std::max(spans.first[n - 1] - spans.first[n - 2], spans.last[1] - spans.last[0]);
  const int64_t pad = std::max<int64_t>((n - 1) * stride - spans.first[n - 1], 0), kernel = spans.last[0] + pad;
  const Windows found = {kernel, stride, pad};
  return gives(found, spans, extent) ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<PoolingProblem> regular_windows(int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor) {
  const auto rows = windows_of(down, h), columns = windows_of(across, w);
  constexpr int64_t kMostPlanes = 65535;  // of a launch in one direction
  if (!rows || !columns || planes < 1 || planes > kMostPlanes || planes * h * w > INT32_MAX) return std::nullopt;
  const bool padded = rows->pad > 0 || columns->pad > 0, counts_padding = divisor > 0;
  if (counts_padding && divisor != static_cast<double>(rows->kernel * columns->kernel)) return std::nullopt;
  return PoolingProblem{{}, planes, h, w, down.count(), across.count(), rows->kernel, columns->kernel, rows->stride, columns->stride, rows->pad, columns->pad,
                        padded && counts_padding};
}

std::string describe(const PoolingProblem& p) {
  std::ostringstream text;
  text << "average pooling" << (p.backward ? ", gradient" : "") << ", of " << dtype_name(p.arithmetic.dtype) << " [" << p.planes << ", " << p.h << ", " << p.w
       << "] to [" << p.oh << ", " << p.ow << "], windows " << p.kernel_h << " " << p.kernel_w << ", stride " << p.stride_h << " " << p.stride_w << ", padding "
       << p.pad_h << " " << p.pad_w << (p.counts_padding ? " (counted)" : "") << ", aligned to " << p.alignment;
  return text.str();
}

}  // namespace hvd::backends::cuda::rules
