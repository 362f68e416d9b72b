// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace hvd {

/// Every failure the runtime reports: bad shapes, dtypes, files, arguments. The text names the operation and the
/// shapes, tensor or file at fault.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hvd
