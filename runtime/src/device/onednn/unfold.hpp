// SPDX-License-Identifier: Apache-2.0
//
// Convolution as a matrix product: the windows of one image side by side, [c kh kw, oh ow].
#pragma once

#include "device/device.hpp"

namespace hvd::backends {

template <class T>
void unfold(const Window2d& p, const T* image, T* columns);
/// The transpose: adds every entry back to where it came from.
template <class T>
void fold_add(const Window2d& p, const T* columns, T* image);

}  // namespace hvd::backends
