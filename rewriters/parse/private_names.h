// SPDX-License-Identifier: Apache-2.0
//
// Names that a source of a program keeps to itself: static functions, constants, what stands in unnamed namespaces, aliases. Several sources
// are read one after another as one translation unit, where two things of one name would clash, or one would answer for the other. For
// reading, the private ones get other names, of the same length, so that every offset stays what it is; whatever is said or written
// has the author's names again.
#pragma once

#include <clang/Basic/SourceLocation.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class DeclRefExpr;
}

namespace hvdize {

/// Which files are the author's.
using IsAuthors = std::function<bool(clang::SourceLocation)>;

/// What one source, parsed alone, says about names.
struct SourceNames {
  std::string file;  ///< as the compiler is given it
  std::string text;
  /// Where the author's files declare a name outside of classes and functions: real paths.
  std::map<std::string, std::set<std::string>> declared;
  /// Where the source writes a name that is private to it. Nowhere: some of those places mean more than that.
  std::map<std::string, std::vector<unsigned>> own;
};

SourceNames namesOf(clang::ASTContext& ast, const IsAuthors& authors, const std::string& file);

/// Several sources in one unit: is something that one of them keeps to itself also declared elsewhere by the author?
bool mayMixNames(clang::ASTContext& ast, const IsAuthors& authors, const std::vector<std::string>& sources);
/// A call in one of the sources that only another of them answers: alone it would mean another function. Null when there is none. `hidden`: functions
/// that a header declares unseen.
const clang::DeclRefExpr* answeredElsewhere(clang::ASTContext& ast, const IsAuthors& authors, const std::vector<std::string>& sources,
                                            const std::set<std::string>& hidden);

class PrivateNames {
 public:
  /// New names for those that a source keeps to itself and that others declare too. False: nothing is new.
  bool separate(const std::vector<SourceNames>& sources);

  /// The sources with other names, by path.
  const std::map<std::string, std::string>& texts() const { return texts_; }
  /// A name that would need a new one and got none; empty: every source means its own.
  const std::string& stuck() const { return stuck_; }
  /// The author's names again.
  void restore(std::string& text) const;

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> authors_;  ///< the author's names by the new ones
  std::string stuck_;
};

}  // namespace hvdize
