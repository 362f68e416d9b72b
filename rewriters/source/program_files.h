// SPDX-License-Identifier: Apache-2.0
//
// The files of a program before and after: its sources, and those of its headers that change or that lead to one that does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewriters/source/edit.h"

namespace clang {
class SourceManager;
}

namespace hvdize {

struct FileResult {
  std::string path;                 ///< as the compiler was given it
  bool header = false;
  std::string input, output;
  std::vector<Edit> edits;          ///< with reasons; the redirection of includes is not among them
  std::vector<unsigned> editLines;  ///< line of each edit in the input
  std::vector<Include> includes;    ///< the #include directives of this file
  LineMap map;                      ///< from output to input
};

/// The sources in order, then the headers that the edits touch or that include one of those, directly or not. Each with its new text.
std::vector<FileResult> collectFiles(clang::SourceManager& sm, const EditSet& edits, const IncludeList& includes,
                                     const std::vector<std::string>& sources);

/// Where a file of the program is written. Empty: it stays where it is.
using Placement = std::function<std::string(const FileResult&)>;

/// Makes the written files find each other: where an #include of a file would no longer reach the new form of a header, the directive
/// gets its path, and where a file that moved includes a neighbour that did not, its path from `base`. Then lays out the changed lines
/// (see format.h); with `lineDirectives` they get the author's line numbers instead (see line_directives.h). True when the result must be compiled with `-iquote base`: it includes neighbours that did not move.
bool settle(std::vector<FileResult>& files, const Placement& place, const std::string& base, bool lineDirectives = false);

}  // namespace hvdize
