// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "tool/compare/text.h"

namespace hvdize::compare {
namespace {

std::string printed(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string brief(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

// The flat index as one index per dimension.
std::string indexText(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = static_cast<int64_t>(flat) % shape[d];
    flat /= static_cast<size_t>(shape[d]);
  }
  return shapeText(index);
}

struct Largest {
  double relative = 0;
  size_t index = 0;
};

// max|a-b| / max|a|, and where |a-b| is largest. A value that is not finite on one side only, or differs there, counts as infinite.
Largest largestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double scale = 0, largest = 0;
  Largest result;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i])) scale = std::max(scale, std::fabs(a[i]));
    const bool alike = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    double difference = alike ? 0 : std::fabs(a[i] - b[i]);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    if (difference > largest) {
      largest = difference;
      result.index = i;
    }
  }
  if (largest > 0) result.relative = scale > 0 ? largest / scale : std::numeric_limits<double>::infinity();
  return result;
}

bool sameBytes(const Checkpoint& a, const TensorEntry& x, const Checkpoint& b, const TensorEntry& y) {
  return x.end - x.begin == y.end - y.begin && std::memcmp(a.data.data() + x.begin, b.data.data() + y.begin, x.end - x.begin) == 0;
}

void compareTensor(const std::string& name, const Checkpoint& a, const TensorEntry& x, const Checkpoint& b, const TensorEntry& y,
                   const TensorRules& rules, TensorComparison& result) {
  const auto differs = [&](const std::string& what) {
    if (result.difference.empty()) result.difference = "tensor '" + name + "'" + what;
  };
  if (x.dtype != y.dtype) return differs(": type " + x.dtype + ", in the distributed run " + y.dtype);
  if (x.shape != y.shape) return differs(": shape " + shapeText(x.shape) + ", in the distributed run " + shapeText(y.shape));
  ++result.compared;
  const bool same = sameBytes(a, x, b, y);
  const std::vector<double> left = valuesOf(a, x), right = valuesOf(b, y);
  const Largest largest = largestDifference(left, right);
  if (x.isFloating() && (largest.relative > result.largest || result.largestName.empty())) {
    result.largest = largest.relative;
    result.largestName = name;
  }
  if (same) return;
  const double allowed = rules.exact || !x.isFloating() ? 0 : rules.tolerance.value_or(defaultTolerance(x.dtype));
  // Bytes that differ while no value does: the sign of a zero, or integers beyond 2^53.
  if (largest.relative == 0 && x.isFloating() && !rules.exact) return;
  if (largest.relative <= allowed && allowed > 0) return;
  differs(indexText(largest.index, x.shape) + ": " + printed(left[largest.index]) + ", in the distributed run " +
          printed(right[largest.index]) + "; relative to the largest value " + brief(largest.relative) + ", allowed " + brief(allowed));
}

void compareMetadata(const Checkpoint& a, const Checkpoint& b, const TensorRules& rules, TensorComparison& result) {
  TextRules text;
  text.exact = rules.exact;
  text.tolerance = rules.textTolerance;
  const auto differs = [&](const std::string& what) {
    if (result.difference.empty()) result.difference = what;
  };
  for (const auto& [key, value] : a.metadata) {
    const auto found = b.metadata.find(key);
    if (found == b.metadata.end()) differs("metadata '" + key + "' is missing in the distributed run");
    else if (!compareText(value, found->second, text).equal())
      differs("metadata '" + key + "': '" + value + "', in the distributed run '" + found->second + "'");
  }
  for (const auto& [key, value] : b.metadata)
    if (!a.metadata.count(key)) differs("metadata '" + key + "' is in the distributed run only");
}

}  // namespace

double defaultTolerance(const std::string& dtype) {
  if (dtype == "F64") return 1e-10;
  if (dtype == "F32") return 1e-5;
  return 1e-2;
}

TensorComparison compareCheckpoints(const Checkpoint& expected, const Checkpoint& actual, const TensorRules& rules) {
  TensorComparison result;
  const auto isExcluded = [&](const std::string& name) {
    return std::any_of(rules.excluded.begin(), rules.excluded.end(), [&](const std::regex& r) { return std::regex_search(name, r); });
  };
  for (const auto& [name, entry] : expected.tensors) {
    if (isExcluded(name)) {
      result.excluded.push_back(name);
      continue;
    }
    const auto found = actual.tensors.find(name);
    if (found != actual.tensors.end()) compareTensor(name, expected, entry, actual, found->second, rules, result);
    else if (result.difference.empty()) result.difference = "tensor '" + name + "' is missing in the distributed run";
  }
  for (const auto& [name, entry] : actual.tensors)
    if (!isExcluded(name) && !expected.tensors.count(name) && result.difference.empty())
      result.difference = "tensor '" + name + "' is in the distributed run only";
  compareMetadata(expected, actual, rules, result);
  return result;
}

}  // namespace hvdize::compare
