// SPDX-License-Identifier: Apache-2.0
// Sections of object files, as far as hvdize-c++ needs them: 64-bit ELF in this machine's byte order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hvdize::wrapper {

/// Adds a section at the end of an ELF file; programs do not load it. `excluded`: linkers leave it out of what they link. False when the
/// file is none of these.
bool addSection(const std::string& file, const std::string& name, const std::string& content, bool excluded);

/// One object inside of a file: an archive holds many.
struct Member {
  std::string file;     ///< the object, or the archive
  std::string section;  ///< the content of the section; empty when there is none
  size_t at = 0;        ///< of the member's header in the archive; 0: it is no archive
};

/// The sections called `name` of an object, of a shared library or of all members of an archive (thin ones too).
std::vector<Member> readSections(const std::string& file, const std::string& name);

/// Adds what an object defines for others. False when that cannot be said: it is no ELF file, or its code is left to the linker.
bool definedSymbols(std::string_view bytes, std::vector<std::string>& symbols);

}  // namespace hvdize::wrapper
