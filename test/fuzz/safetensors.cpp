// SPDX-License-Identifier: Apache-2.0
// Tensors, metadata and checkpoints in safetensors files.
#include "fuzz.hpp"

#include <hvd/checkpoint.hpp>
#include <hvd/nn/layers.hpp>
#include <hvd/optim/sgd.hpp>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string path;
  fuzz::run(data, size, [&](fuzz::Bytes bytes) {
    path = fuzz::write("file.safetensors", bytes);
    hvd::load_tensors(path);
  });
  return fuzz::run(data, size, [&](fuzz::Bytes) {
    static const hvd::nn::Linear model(2, 1);
    hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
    hvd::load_metadata(path);
    hvd::load_checkpoint(path, model, optimizer);
  });
}
