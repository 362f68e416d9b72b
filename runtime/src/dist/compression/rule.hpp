// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hvd::dist {

/// HVD_COMPRESSION: what becomes of gradients on their way to the other ranks.
struct CompressionRule {
  enum class Kind { none, bfloat16, float16, powersgd };
  Kind kind = Kind::none;
  int rank = 0;  // of PowerSGD's matrices

  explicit operator bool() const { return kind != Kind::none; }
  std::string text() const;
};

/// "none", "bf16", "fp16", "powersgd:R" with R from 1 to 1024. False: it is none of these.
bool read_compression(std::string_view text, CompressionRule& rule);

}  // namespace hvd::dist
