// SPDX-License-Identifier: Apache-2.0
// Which expressions open files, and whether to read or to write.
#pragma once

#include <optional>

#include "rewriters/program/origins.h"

namespace hvdize {

struct OpenedFile {
  const clang::Expr* path;
  bool reads, writes;
  bool exclusive = false;  ///< only when there is none of that name
  const clang::Expr* mode = nullptr;  ///< what says, when it is run, which of both: `fopen(path, mode)` in a function that others hand a mode to
};

/// The file that `e` itself opens: a stream that is constructed (also inside of an std::optional, a smart pointer or a container), `open()`, or a call of
/// fopen, whose mode is followed to the texts that it may be. A stream for both directions is judged by its mode, else by what the program does with it.
std::optional<OpenedFile> openedFile(const clang::Expr* e, const Definitions& definitions);

}  // namespace hvdize
