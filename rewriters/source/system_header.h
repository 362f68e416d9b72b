// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hvdize {

/// The text of a file that calls itself the system's (`#pragma GCC system_header`), for a reader to whom it is the author's: the directive is a
/// comment of the same length, so that every place stays what it was.
std::string readAsAuthors(std::string text);
/// Takes that back.
std::string asWritten(std::string text);

}  // namespace hvdize
