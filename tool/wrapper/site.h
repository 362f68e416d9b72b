// SPDX-License-Identifier: Apache-2.0
// Where things are: hvdize beside this program, the runtime's headers and libraries in the build tree or the installation it is part of.
#pragma once

#include <string>
#include <vector>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

struct Site {
  std::string hvdize;
  Words includes;               ///< folders of the runtime's headers
  std::string libraries;        ///< folder of the runtime's libraries
  std::string compiler;         ///< HVDIZE_CXX, else the one that hvdize was built with, else c++
  bool off = false;             ///< HVDIZE=off: units keep their summaries, and nothing is rewritten
  Words environmentOptions;     ///< of HVDIZE_FLAGS

  /// Tells versions of hvdize apart.
  std::string identity() const;
};

Site findSite();

/// The words of a flag variable, separated by blanks.
Words wordsOfVariable(const char* name);

}  // namespace hvdize::wrapper
