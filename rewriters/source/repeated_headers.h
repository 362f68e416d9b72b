// SPDX-License-Identifier: Apache-2.0
//
// Headers without an include guard, where several sources are read one after another as one program: each source may include such a header
// once, and reading it once is then right for all.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

namespace clang {
class PPCallbacks;
class Preprocessor;
}  // namespace clang

namespace hvdize {

class RepeatedHeaders {
 public:
  /// To be added to the preprocessor before parsing. The main file includes the sources.
  std::unique_ptr<clang::PPCallbacks> watch(clang::Preprocessor& pp);

  /// After a parse with errors in these files (real paths): from now on those of them are read once that several sources have entered, each
  /// once, with the same macros. A header that one source enters more often than once is meant to be. True when there are new ones: parse again.
  bool learn(const std::set<std::string>& errorFiles);

 private:
  class Watcher;
  std::set<std::string> once_;
  struct Entry {
    unsigned times = 0;
    std::string macros;  ///< where those were defined that the header asked for, in this order
    bool operator==(const Entry&) const = default;
  };
  std::map<std::string, std::map<unsigned, Entry>> entered_;  ///< by real path, then by the source
};

}  // namespace hvdize
