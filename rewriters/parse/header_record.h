// SPDX-License-Identifier: Apache-2.0
//
// What is known about precompiled headers without loading them: what they were made from, and what must not be different for them to
// stand for the headers' text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSet.h>

namespace hvdize {

/// A file as it was when it was read.
struct FileState {
  std::string path;
  uint64_t size = 0;
  int64_t modified = 0;  ///< nanoseconds since 1970

  /// As it is now; nothing when it cannot be read.
  static std::optional<FileState> of(const std::string& path);
  bool isCurrent() const;
};

struct HeaderRecord {
  std::vector<FileState> files;                ///< every header that was read
  std::map<std::string, std::string> includes; ///< IncludeList::all
  std::vector<std::string> userFiles;          ///< IncludeList::userFiles
  std::map<std::string, std::string> searched; ///< the includes that were looked for in the folders of the command
  std::vector<std::string> folders;            ///< those of -iquote and -I in which one was found
  llvm::StringSet<> identifiers;               ///< every name the headers mention or test: a macro of that name changes them
  llvm::StringSet<> macros;                    ///< macros that are defined behind them
  llvm::StringSet<> globals;                   ///< names that the framework declares outside of its namespaces, and those namespaces
  std::string checksum;                        ///< of the precompiled headers: also their name in the cache
  uint64_t size = 0;                           ///< of the precompiled headers, in bytes

  bool isCurrent() const;
  /// The first of `searched` that is another file when `folders` are those of -iquote and -I; empty when there is none.
  std::string foundElsewhere(const std::vector<std::string>& folders) const;
  /// One line for each fact.
  std::string text() const;
  /// Nothing when `text` is not what text() gives.
  static std::optional<HeaderRecord> parse(llvm::StringRef text);
};

/// 32 hexadecimal digits; equal only for equal bytes, short of malice.
std::string checksumOf(llvm::StringRef bytes);

}  // namespace hvdize
