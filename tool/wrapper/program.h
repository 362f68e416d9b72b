// SPDX-License-Identifier: Apache-2.0
// The whole program, at the link step: its units are read together, and fit, or it is not linked.
#pragma once

#include <map>
#include <string>

#include "tool/wrapper/inputs.h"
#include "tool/wrapper/rewrite.h"

namespace hvdize::wrapper {

struct Program {
  std::map<const Unit*, std::string> replaced;  ///< objects to be linked in place of the units' own
  std::string runtime;                          ///< the header of the runtime that some unit includes; empty: the program does not train
};

/// A program that cannot be distributed; what there is to say has been said.
struct Refused {
  int status = 1;
};

/// Reads, rewrites and compiles what is needed. `folder` is where objects and texts are kept between links. Throws Refused, or
/// std::runtime_error with a message.
Program distribute(const Site& site, const LinkInputs& inputs, const Words& linkOptions, const std::string& folder);

/// The program as it is written: units that were rewritten when they were compiled are compiled again, and those that were deferred now.
Program sequential(const Site& site, const LinkInputs& inputs, const std::string& folder);

/// What becomes one object first, and is linked later (-r): units that were deferred are compiled as they are written.
Program deferredOnly(const Site& site, const LinkInputs& inputs, const std::string& folder);

}  // namespace hvdize::wrapper
