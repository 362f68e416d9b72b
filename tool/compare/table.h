// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hvdize::compare {

/// Rows of text in aligned columns; the first row is the head and gets a rule below. Lengths count UTF-8 characters.
std::string renderTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace hvdize::compare
