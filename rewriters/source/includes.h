// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <clang/Basic/SourceLocation.h>

namespace clang {
class PPCallbacks;
class SourceManager;
}  // namespace clang

namespace hvdize {

/// An active #include directive of a file that is no system header.
struct Include {
  clang::FileID file;   ///< that holds it
  bool inSource = true; ///< that file is a source, not a header
  std::string name;     ///< as written between the brackets or quotes
  bool angled = false;  ///< in <>
  std::string path;     ///< of the header, as the compiler opened it; empty when it was not found
  unsigned offset = 0;  ///< of the '#'
  unsigned nameBegin = 0;  ///< of the bracket or quote
  unsigned end = 0;     ///< behind the closing bracket or quote
};

struct IncludeList {
  std::vector<Include> direct;
  /// Every header that was entered, by the name of its directive ("hvd/hvd.hpp"): reveals the dialect.
  std::map<std::string, std::string> all;  // to its real path; empty when it was not found
  /// Real or given paths of the headers that are not system headers, for dependency files.
  std::vector<std::string> userFiles;

  /// Real paths of headers whose text is not read, because they are precompiled; and the entries of userFiles that come with them.
  std::vector<std::string> precompiled, precompiledUserFiles;

  bool includes(const std::string& name) const { return all.count(name) > 0; }
  bool includesAny(const std::vector<std::string>& names) const;
  /// By a source, not through another header.
  bool includesDirectly(const std::vector<std::string>& names) const;
  /// The real folder of the first of `names` that was included, with a slash at its end; empty when none was. Ends that folder in
  /// `layout`, that part is left out: the folder then holds all of a framework's headers.
  std::string folderOf(const std::vector<std::string>& names, const std::string& layout = "") const;
};

/// To be added to the preprocessor before parsing. `several`: the main file does nothing but include the sources of a program.
std::unique_ptr<clang::PPCallbacks> collectIncludes(clang::SourceManager& sm, IncludeList& list, bool several = false);

}  // namespace hvdize
