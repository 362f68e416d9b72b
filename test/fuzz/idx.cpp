// SPDX-License-Identifier: Apache-2.0
// IDX files of images and labels, plain or compressed.
#include "fuzz.hpp"

#include <hvd/data/datasets.hpp>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz::run(data, size, [](fuzz::Bytes bytes) {
    const fuzz::Pair files(bytes);
    fuzz::write("idx/t10k-images-idx3-ubyte", files.first);
    fuzz::write("idx/t10k-labels-idx1-ubyte", files.second);
    hvd::data::datasets::MNIST set(fuzz::folder() + "/idx", hvd::data::datasets::kTest);
    for (size_t i = 0; i < set.size() && i < 3; ++i) set.get(i);
    if (set.size() > 0) set.get(set.size() - 1);
  });
}
