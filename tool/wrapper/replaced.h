// SPDX-License-Identifier: Apache-2.0
// Where a link command names objects and archives whose units were compiled again, it gets the new ones.
#pragma once

#include <map>
#include <string>

#include "tool/wrapper/inputs.h"
#include "tool/wrapper/program.h"

namespace hvdize::wrapper {

struct Replacements {
  /// Archives are written again, below `folder`, so that the linker takes from them what the program needs, as it always does. Throws
  /// std::runtime_error where an object holds several units, and not all of it is known.
  Replacements(const LinkInputs& inputs, const Program& program, const std::string& folder);
  Words wordsFor(const Argument& argument) const;
  void removeArchives() const;

  Words inFront;  ///< objects of archives that cannot be written again, in front of these, so that these are not asked for what they define

 private:
  std::string fileFor(const std::string& file) const;
  std::string linkerWordFor(const std::string& word) const;

  const LinkInputs& inputs_;
  std::map<std::string, std::string> files_;  ///< the new object or archive for each old one, by its real path
  Words archives_;
};

}  // namespace hvdize::wrapper
