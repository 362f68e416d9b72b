// SPDX-License-Identifier: Apache-2.0
//
// Classes and default arguments that stand in a header and once more in a source which does not include it. Each source compiles alone; read one
// after another they would be defined twice. For reading, what the header says is put into a comment of the same length, and the source is read
// first; whatever is written has the author's text again.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewriters/parse/private_names.h"

namespace hvdize {

/// A class definition, or a function declared with default arguments.
struct Repeatable {
  std::string name;  ///< with its namespaces
  std::string path;
  unsigned begin = 0, end = 0;  ///< offsets in that file
  bool isClass = false;
  bool hasBodies = false;  ///< functions are defined there
};

/// What one source, parsed alone, says that another might say once more.
struct SourceRepeats {
  std::string file, path;  ///< as the compiler is given it; the real path
  std::vector<Repeatable> all;
  std::map<std::string, std::string> texts;  ///< of the author's files, by path
};

SourceRepeats repeatsOf(clang::ASTContext& ast, const IsAuthors& authors, const std::string& file);

class HiddenRepeats {
 public:
  /// Hides what headers repeat. False: nothing is new. A class with bodies in both places stays: an edit of one would not be one of the other.
  bool hide(const std::vector<SourceRepeats>& sources);

  /// The headers with comments, by path.
  const std::map<std::string, std::string>& texts() const { return texts_; }
  /// The sources in the order in which they are read.
  std::vector<std::string> ordered(std::vector<std::string> sources) const;
  /// Functions, with their namespaces, of which a header's declaration is hidden.
  const std::set<std::string>& functions() const { return functions_; }
  /// The author's text again.
  void restore(std::string& text) const;

 private:
  std::map<std::string, std::string> texts_, hidden_;  ///< hidden_: the author's text by the comment
  std::set<std::string> first_, functions_;
};

}  // namespace hvdize
