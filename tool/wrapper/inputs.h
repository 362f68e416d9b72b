// SPDX-License-Identifier: Apache-2.0
// What a link command links.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tool/wrapper/command.h"
#include "tool/wrapper/unit.h"

namespace hvdize::wrapper {

struct LinkedUnit {
  Unit unit;
  std::string file;      ///< the object, or the archive that holds it
  bool archived = false;
  size_t at = 0;         ///< of the member in the archive
};

/// The same unit, once more: in a second archive, say.
struct Copy {
  size_t unit;           ///< its index
  std::string file;
  bool archived = false;
  size_t at = 0;
};

struct LinkInputs {
  std::vector<LinkedUnit> units;                      ///< each once, in the order of the command
  std::vector<Copy> copies;
  std::map<std::string, std::string> libraries;       ///< the file that each -l (here without it) means
  std::vector<std::string> foreignTraining;           ///< objects that hvdize-c++ has not compiled, and that call a function named backward
  std::vector<std::string> sequentialLibraries;       ///< shared libraries that hold units that train: "LIBRARY (SOURCE)"
};

/// Reads the summaries of the objects, archives and shared libraries of a command.
LinkInputs readInputs(const Command& command);

}  // namespace hvdize::wrapper
