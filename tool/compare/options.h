// SPDX-License-Identifier: Apache-2.0
//
// The command line of hvd-verify.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hvdize::compare {

struct Options {
  std::vector<int> ranks = {1, 2, 3, 4};
  /// Relative tolerance of numbers; unset: by their type, see tensors.h and text.h.
  std::optional<double> tolerance;
  bool keep = false;
  double timeoutSeconds = 300;
  /// What both programs must end with.
  int expectStatus = 0;
  std::vector<std::string> excludeTensors;  ///< regular expressions
  std::vector<std::string> ignoreLines;     ///< regular expressions
  std::vector<std::string> copies;          ///< files or folders put into every scratch folder beforehand
  std::vector<std::string> environment;     ///< NAME=VALUE, for the distributed program only
  std::string launcher;                     ///< what starts ranks: mpirun or a program that takes its options, or hvd-run; empty: the build's mpirun
  std::string label;                        ///< first field of the rows in rowsFile
  std::string rowsFile;                     ///< the table's rows are appended here, separated by tabs
  std::vector<std::string> sequential;      ///< program and its arguments
  std::vector<std::string> distributed;
};

struct UsageError {
  std::string message;
};

struct HelpWanted {};

/// Reads the arguments (without the program's name). Says what is wrong with them in one line.
std::variant<Options, UsageError, HelpWanted> parseOptions(const std::vector<std::string>& arguments);

/// What --help prints.
std::string usage();

}  // namespace hvdize::compare
