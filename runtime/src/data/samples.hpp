// SPDX-License-Identifier: Apache-2.0
// What the data sets of this folder share.
#pragma once

#include <string>

#include "hvd/core/error.hpp"

namespace hvd::data::datasets {

inline void check_index(size_t index, size_t size) {
  if (index >= size) throw Error("sample " + std::to_string(index) + " of a data set of " + std::to_string(size));
}

}  // namespace hvd::data::datasets
