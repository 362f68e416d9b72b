// SPDX-License-Identifier: Apache-2.0
// Compiles one unit, as it is written or rewritten, into an object that carries its summary.
#pragma once

#include <string>

#include "tool/wrapper/rewrite.h"
#include "tool/wrapper/unit.h"

namespace hvdize::wrapper {

struct Translation {
  const Unit* unit = nullptr;
  std::string output;        ///< the object; relative to the unit's folder
  Words dependencies;        ///< the author's -MD, -MF, ...
  std::string work;          ///< folder for rewritten texts and what else is written on the way
  const Rewriting* rewriting = nullptr;  ///< null: as it is written
};

/// Runs the compiler; its exit status. The object appears whole, or not at all. A rewritten unit that would read the old form of a
/// header that was rewritten is an error (std::runtime_error). `files`, when given, gets the files that were read.
int translate(const Site& site, const Translation& t, Words* files = nullptr);

}  // namespace hvdize::wrapper
