// SPDX-License-Identifier: Apache-2.0
// Whether a source can train at all, found in its text in a few milliseconds. Errs on one side only: what trains is never missed.
#pragma once

#include <string>
#include <vector>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

struct Scan {
  bool framework = false;  ///< it includes headers of a framework, perhaps through others
  bool words = false;      ///< it, or a header of the project, speaks of backward passes or optimizers
  bool main = false;       ///< its own text may define `main`
  bool mayTrain() const { return framework && words; }
  std::vector<std::string> files;  ///< the source and the headers that were read; not those of a framework
};

/// Reads `source` and what it includes, through the folders that `flags` name, as seen from `folder`. Conditions are not evaluated: all
/// that may be included counts. `all`: everything is read, for the list of files; otherwise reading ends when the answer is known.
Scan scanSource(const std::string& source, const Words& flags, const std::string& folder, bool all = false);

}  // namespace hvdize::wrapper
