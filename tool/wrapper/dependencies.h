// SPDX-License-Identifier: Apache-2.0
// Dependency files, as make reads them.
#pragma once

#include <functional>
#include <string>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

/// What -MD and its friends ask for, made explicit: the compiler is given another name for the object, which must not show.
struct DependencyRequest {
  bool wanted = false;
  std::string file;   ///< where the rule goes
  Words flags;        ///< for the compiler, without -MF

  /// `words`: the author's options; `output`: the object.
  DependencyRequest(const Words& words, const std::string& output);
};

/// Replaces each file of a dependency file. `map` gets a plain path and gives another; nothing for one that is to be left out.
std::string mapDependencies(const std::string& text, const std::function<std::string(const std::string&)>& map);

/// The files behind the colon of the first rule.
Words prerequisites(const std::string& text);

}  // namespace hvdize::wrapper
