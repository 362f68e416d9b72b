// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace hvdize {

struct BuiltInDialect {
  std::string_view name;  ///< of the YAML file, without its ending
  std::string_view yaml;
};

/// The tables that were compiled in (see embed.cmake).
const std::vector<BuiltInDialect>& builtInDialects();

}  // namespace hvdize
