// SPDX-License-Identifier: Apache-2.0
// Archives of objects, as ar of GNU and of LLVM write them: plain and thin ones.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hvdize::wrapper {

struct Archive {
  struct Entry {
    size_t at = 0;             ///< of its header
    std::string name;
    std::string_view content;  ///< of a plain archive's
    std::string path;          ///< of a thin archive's: where the object lies
  };
  bool thin = false;
  std::vector<Entry> members;
  std::string_view symbols;    ///< the table of symbols; empty when there is none
  size_t width = 4;            ///< of its numbers
};

/// `file` is the archive's own path. False when this is no archive.
bool parseArchive(std::string_view bytes, const std::string& file, Archive& archive);

/// Writes the archive `to`: as `from`, with these objects in place of some members (by their `at`). A linker takes from it what it would take
/// of `from`, had the members been these. False when that cannot be: an object is no ELF file, or its code is left to the linker.
bool writeArchive(const std::string& from, const std::map<size_t, std::string>& objects, const std::string& to);

}  // namespace hvdize::wrapper
