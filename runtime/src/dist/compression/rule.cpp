// SPDX-License-Identifier: Apache-2.0
#include "rule.hpp"

#include <charconv>

namespace hvd::dist {

namespace {

constexpr std::string_view kPowerSgd = "powersgd:";
constexpr int kLargestRank = 1024;

}  // namespace

bool read_compression(std::string_view text, CompressionRule& rule) {
  using Kind = CompressionRule::Kind;
  rule = {};
  if (text == "none") return true;
  if (text == "bf16") rule.kind = Kind::bfloat16;
  else if (text == "fp16") rule.kind = Kind::float16;
  if (rule) return true;
  if (!text.starts_with(kPowerSgd)) return false;
  text.remove_prefix(kPowerSgd.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rule.rank);
  if (error != std::errc() || end != text.data() + text.size() || rule.rank < 1 || rule.rank > kLargestRank) return false;
  rule.kind = Kind::powersgd;
  return true;
}

std::string CompressionRule::text() const {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::bfloat16: return "bf16";
    case Kind::float16: return "fp16";
    case Kind::powersgd: return std::string(kPowerSgd) + std::to_string(rank);
  }
  return "?";
}

}  // namespace hvd::dist
