// SPDX-License-Identifier: Apache-2.0
// What a link command links.
#pragma once

#include <string>
#include <vector>

#include "tool/wrapper/command.h"
#include "tool/wrapper/unit.h"

namespace hvdize::wrapper {

struct LinkedUnit {
  Unit unit;
  std::string file;      ///< the object, or the archive that holds it, as the command names it
  bool archived = false;
};

struct LinkInputs {
  std::vector<LinkedUnit> units;                      ///< each once, in the order of the command
  std::vector<std::string> sequentialLibraries;       ///< shared libraries that hold units that train: "LIBRARY (SOURCE)"
};

/// Reads the summaries of the objects, archives and shared libraries of a command.
LinkInputs readInputs(const Command& command);

}  // namespace hvdize::wrapper
