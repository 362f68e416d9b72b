// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hvd {

/// Where in the author's source a collective is called: named when a rank does not reach it.
struct CallSite {
  const char* file = "";
  int line = 0;

  /// As a default argument: the place of the call.
  static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return CallSite{file, line};
  }
};

}  // namespace hvd
