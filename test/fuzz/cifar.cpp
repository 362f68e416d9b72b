// SPDX-License-Identifier: Apache-2.0
// Records of CIFAR-10 and CIFAR-100, plain or compressed.
#include "fuzz.hpp"

#include <hvd/data/datasets.hpp>

namespace {

template <class Set>
void read(const std::string& name, fuzz::Bytes bytes) {
  fuzz::write("cifar/" + name, bytes);
  Set set(fuzz::folder() + "/cifar", hvd::data::datasets::kTest);
  for (size_t i = 0; i < set.size() && i < 3; ++i) set.get(i);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::run(data, size, [](fuzz::Bytes bytes) { read<hvd::data::datasets::CIFAR10>("test_batch.bin", bytes); });
  return fuzz::run(data, size, [](fuzz::Bytes bytes) { read<hvd::data::datasets::CIFAR100>("test.bin", bytes); });
}
