// SPDX-License-Identifier: Apache-2.0
// Calls hvdize.
#pragma once

#include <string>
#include <vector>

#include "tool/standard.h"
#include "tool/wrapper/site.h"

namespace hvdize::wrapper {

struct Changed {
  bool header = false;
  std::string original;   ///< absolute
  std::string rewritten;  ///< file with the new text
};

struct Rewriting {
  int status = 2;                 ///< of hvdize: 0 done, 1 refused, 3 does not compile
  std::string runtime;            ///< the header of the runtime that the new texts include
  std::string quoteFolder;        ///< to be compiled with -iquote of it; empty when not needed
  std::vector<Changed> changed;   ///< empty: there is nothing to do
  // Of one source that was accepted or refused:
  bool trains = false;            ///< it holds a training step
  bool optimizers = false;        ///< it holds none, and makes an optimizer
  Words defined;                  ///< what its object defines for others, as linkers call it

  const Changed* find(const std::string& absoluteSource) const;
  /// Of the new texts, with the names of the files.
  std::string hash() const;
};

/// The sources of one program, read together from `folder` with `flags`; the new texts go below `work`. What hvdize says goes to the file
/// `messages`, or where it says things otherwise.
Rewriting rewrite(const Site& site, const Words& sources, const std::string& folder, const Words& flags, const Words& options, const std::string& work,
                  const std::string& messages = "");

/// Of a compiler's flags those that decide how a source reads, with a standard that the runtime's headers can be read in.
Words parseFlags(const Words& flags);

/// The folder for the rewritten texts that belong to the file `product`, absolute: beside it, or below HVDIZE_KEEP.
std::string workFolder(const std::string& product);
bool keepsTexts();

}  // namespace hvdize::wrapper
