// SPDX-License-Identifier: Apache-2.0
// Networks as text, and what is made of them.
#include "fuzz.hpp"

#include <hvd/context.hpp>
#include <hvd/nn/network.hpp>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz::run(data, size, [](fuzz::Bytes bytes) {
    const auto description = hvd::nn::parse_network(std::string(bytes), "network.net");
    // Small, so that most of the time goes into reading: the limit is what keeps hostile sizes from being allocated.
    hvd::nn::Network net(description, hvd::nn::NetworkOptions().most_parameters(1 << 16));
    const auto& shape = net->input_shape();
    int64_t values = 1;
    for (const int64_t extent : shape) values *= extent;
    if (values > 4096) return;
    for (const int64_t extent : net->output_shape())
      if (extent > 4096) return;
  });
}
