// SPDX-License-Identifier: Apache-2.0
#include "blobs.h"

#include <iostream>

hvd::data::datasets::TensorDataset blobs(int64_t rows) {
  auto centres = hvd::arange(rows, hvd::kFloat64);
  auto x = hvd::zeros({rows, 4}, hvd::kFloat64);
  auto y = hvd::zeros({rows}, hvd::kInt64);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < 4; ++c) x.data_ptr<double>()[r * 4 + c] = static_cast<double>((r % 3 + 1) * (c - 1)) + 0.01 * static_cast<double>((r * 37 + c * 11) % 50);
    y.data_ptr<int64_t>()[r] = r % 3;
  }
  std::cout << rows << " points" << std::endl;
  return {x, y};
}
