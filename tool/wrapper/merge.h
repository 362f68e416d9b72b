// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tool/wrapper/inputs.h"

namespace hvdize::wrapper {

/// How the units of a program are read together.
struct Reading {
  std::string folder;
  Words sources;  ///< the one with `main` first
  Words flags;
};

/// One set of flags for all: macros and include folders of all units, as seen from the folder of the first. Where that could change what a
/// unit means (a macro that another unit is not compiled with, and that some file of the program mentions), std::runtime_error.
Reading readingOf(const LinkInputs& inputs);

}  // namespace hvdize::wrapper
