// SPDX-License-Identifier: Apache-2.0
// A view that puts several samples into a row, `x.view({-1, 24})` of samples of 12 numbers: what LibTorch says of a slice with an odd one.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <hvd/context.hpp>

#include "dist/rank.hpp"

namespace hvd::torch_binding {

namespace {

// Of "[-1, 6, 4]": 6 * 4; 0 where nothing stands behind the first extent.
std::int64_t numbers_in_row(const std::string& shape) {
  std::int64_t product = 0;
  for (std::size_t at = shape.find(','); at != std::string::npos; at = shape.find(',', at + 1)) {
    const std::int64_t extent = std::strtoll(shape.c_str() + at + 1, nullptr, 10);
    product = (product == 0 ? 1 : product) * extent;
  }
  return product;
}

}  // namespace

std::string explain_folded_samples(const std::string& what, const Slice& slice) {
  const std::string shape_mark = "shape '[", size_mark = "]' is invalid for input of size ";
  const std::size_t begin = what.find(shape_mark), end = what.find(size_mark, begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::int64_t row = numbers_in_row(what.substr(begin + shape_mark.size(), end - begin - shape_mark.size()));
  const std::int64_t size = std::strtoll(what.c_str() + end + size_mark.size(), nullptr, 10);
  const std::int64_t mine = slice.filler ? 1 : slice.rows;
  // Samples of the size of a row, or of several, are no matter of how they are shared out; nor is what the whole batch would not have fitted either.
  if (row <= 0 || mine <= 0 || size % mine != 0) return {};
  const std::int64_t sample = size / mine;
  if (sample % row == 0 || sample * slice.global_rows % row != 0) return {};
  std::int64_t together = 1;
  while (together * sample % row != 0) ++together;
  return "HVD4003: the program puts " + std::to_string(together) + " samples of " + std::to_string(sample) + " numbers together in rows of " + std::to_string(row) +
         ", and this rank has " + std::to_string(slice.rows) + " of the " + std::to_string(slice.global_rows) +
         " samples of the batch: the slice of every rank must be a multiple of " + std::to_string(together);
}

}  // namespace hvd::torch_binding

std::string hvd::dist::binding_explains(const std::string& what) {
  const Slice* slice = current_slice();
  return slice ? torch_binding::explain_folded_samples(what, *slice) : std::string();
}
