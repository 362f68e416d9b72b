// SPDX-License-Identifier: Apache-2.0
// The command line of hvdize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewriters/options.h"

namespace hvdize::tool {

struct Arguments {
  RewriteOptions rewrite;
  std::vector<std::string> sources;
  std::optional<std::vector<std::string>> compilerFlags;  ///< what follows "--"; none when there is no "--"
  std::string database;   ///< -p: folder of compile_commands.json
  std::string output;     ///< -o; "-" is standard output
  std::string outputRoot;
  std::string units;      ///< --units: folder of the form that a compiler reads, for hvdize-c++
  bool inPlace = false, diff = false, check = false;
  bool backup = true;   ///< --in-place keeps what it replaces, for --undo
  std::string dialect;  ///< empty: chosen by the headers that a file includes
  /// Each --report: its form (json, sarif, html) and its file.
  std::vector<std::pair<std::string, std::string>> reports;
  std::string depfile;
  bool quiet = false, verbose = false;
  bool silent = false;  ///< nothing is printed: the exit status says it all
  bool cache = true;    ///< precompiled headers may be used

  enum class Action { Rewrite, Help, Version, Explain, DumpDocs, ListPasses, Undo };
  Action action = Action::Rewrite;
  std::string actionArgument;  ///< the ID, or the folder
};

/// Reads the arguments behind the program's name. On an error nothing is returned and `*error` says what is wrong.
std::optional<Arguments> parseArguments(const std::vector<std::string>& argv, std::string* error);
extern const char* const kHelp;

}  // namespace hvdize::tool
