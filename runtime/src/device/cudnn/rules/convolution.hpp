// SPDX-License-Identifier: Apache-2.0
//
// How a convolution of the runtime is put to cuDNN: extents and strides in each layout, which layouts are worth trying, and what
// tells one choice of a plan from another. Plain C++: tested without cuDNN.
#pragma once

#include "device/cudnn/rules/numerics.hpp"
#include "device/device.hpp"

#include <array>
#include <string>
#include <vector>

namespace hvd::backends::cuda::rules {

enum class Layout : uint8_t { kNchw, kNhwc };
enum class Product : uint8_t { kForward, kGradInput, kGradWeight };

const char* name_of(Layout layout);

/// Extents (n, c, h, w) of a dense buffer, and the strides of its layout.
struct Image {
  std::array<int64_t, 4> size, stride;
};
Image image(Layout layout, int64_t n, int64_t c, int64_t h, int64_t w);

/// One of a convolution's three products, with what the choice of its plan depends on.
struct Convolution {
  Product product;
  Arithmetic arithmetic;
  Window2d window;
  bool bias = false;      // is added, in the forward product
  int64_t alignment = 16;  // of all operands
  friend bool operator<(const Convolution& a, const Convolution& b);
};

/// "convolution forward of bfloat16 [8, 64, 56, 56] with [64, 64, 3, 3], ..."
std::string describe(const Convolution& c);

Image input_of(const Window2d& w, Layout layout);
Image weight_of(const Window2d& w, Layout layout);
Image output_of(const Window2d& w, Layout layout);
Image bias_of(const Window2d& w, Layout layout);

/// Whether cuDNN takes the window: extents of 32 bits, no empty ones, and as many outputs as it counts itself.
bool fits_cudnn(const Window2d& window);

/// The layouts to try, the one that the rule prefers first. Images are kept as [n, c, h, w]; copies with the channels last are worth it where
/// tensor cores multiply them (16 bits, or float32 as TF32) and can load whole 16 bytes of a pixel's channels in each group.
std::vector<Layout> layouts(const Convolution& c);

}  // namespace hvd::backends::cuda::rules
