// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/options.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <sstream>

namespace hvdize::compare {
namespace {

// Thrown inside this file only; parseOptions turns it into its result.
struct Bad {
  std::string message;
};

double number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0)) throw Bad{option + ": '" + text + "' is not a number of at least 0"};
  return value;
}

int integer(const std::string& option, const std::string& text, int low, int high) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high)
    throw Bad{option + ": '" + text + "' is not a whole number from " + std::to_string(low) + " to " + std::to_string(high)};
  return static_cast<int>(value);
}

std::vector<int> rankList(const std::string& text) {
  std::vector<int> ranks;
  std::stringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) ranks.push_back(integer("-n", item, 1, 4096));
  if (ranks.empty()) throw Bad{"-n: a list of numbers of ranks expected, as in 1,2,4"};
  return ranks;
}

std::string expression(const std::string& option, const std::string& text) {
  try {
    std::regex check(text);
  } catch (const std::regex_error& e) {
    throw Bad{option + ": '" + text + "' is not a regular expression: " + e.what()};
  }
  return text;
}

std::string assignment(const std::string& text) {
  if (text.find('=') == std::string::npos || text[0] == '=') throw Bad{"--env: NAME=VALUE expected, not '" + text + "'"};
  return text;
}

using Setter = std::function<void(Options&, const std::string&)>;

// Options that take a value, given as `--name value` or `--name=value`.
const std::map<std::string, Setter>& valued() {
  static const std::map<std::string, Setter> table = {
      {"-n", [](Options& o, const std::string& v) { o.ranks = rankList(v); }},
      {"--tolerance", [](Options& o, const std::string& v) { o.tolerance = number("--tolerance", v); }},
      {"--timeout", [](Options& o, const std::string& v) { o.timeoutSeconds = number("--timeout", v); }},
      {"--expect-status", [](Options& o, const std::string& v) { o.expectStatus = integer("--expect-status", v, 0, 255); }},
      {"--exclude", [](Options& o, const std::string& v) { o.excludeTensors.push_back(expression("--exclude", v)); }},
      {"--ignore-line", [](Options& o, const std::string& v) { o.ignoreLines.push_back(expression("--ignore-line", v)); }},
      {"--copy", [](Options& o, const std::string& v) { o.copies.push_back(v); }},
      {"--env", [](Options& o, const std::string& v) { o.environment.push_back(assignment(v)); }},
      {"--launcher", [](Options& o, const std::string& v) { o.launcher = v; }},
      {"--label", [](Options& o, const std::string& v) { o.label = v; }},
      {"--rows", [](Options& o, const std::string& v) { o.rowsFile = v; }},
  };
  return table;
}

bool isSide(const std::string& argument) { return argument == "--sequential" || argument == "--distributed"; }

// One option before the first program; `at` is left on its last argument.
void readOption(Options& options, const std::vector<std::string>& arguments, size_t& at) {
  const std::string& argument = arguments[at];
  if (argument == "--keep") {
    options.keep = true;
    return;
  }
  const size_t equals = argument.rfind("--", 0) == 0 ? argument.find('=') : std::string::npos;
  const auto found = valued().find(argument.substr(0, equals));
  if (found == valued().end()) throw Bad{"unknown option '" + argument + "'"};
  if (equals != std::string::npos) return found->second(options, argument.substr(equals + 1));
  if (at + 1 == arguments.size()) throw Bad{argument + ": a value is missing"};
  found->second(options, arguments[++at]);
}

Options read(const std::vector<std::string>& arguments) {
  Options options;
  std::vector<std::string>* side = nullptr;
  for (size_t at = 0; at < arguments.size(); ++at) {
    if (isSide(arguments[at])) {
      side = arguments[at] == "--sequential" ? &options.sequential : &options.distributed;
      if (!side->empty()) throw Bad{arguments[at] + " is given twice"};
    } else if (side) {
      side->push_back(arguments[at]);  // everything after a program belongs to it
    } else {
      readOption(options, arguments, at);
    }
  }
  if (options.sequential.empty()) throw Bad{"--sequential PROGRAM is missing"};
  if (options.distributed.empty()) throw Bad{"--distributed PROGRAM is missing"};
  return options;
}

}  // namespace

std::variant<Options, UsageError, HelpWanted> parseOptions(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (isSide(argument)) break;
    if (argument == "--help" || argument == "-h") return HelpWanted{};
  }
  try {
    return read(arguments);
  } catch (const Bad& bad) {
    return UsageError{bad.message};
  }
}

std::string usage() {
  return R"(hvd-verify: is the distributed program the same training as the sequential one?

usage: hvd-verify [options] --sequential PROGRAM [arguments] --distributed PROGRAM [arguments]

Runs the sequential program once and the distributed one on 1, 2, 3 and 4 ranks, each in an empty scratch folder (so give paths
of data as absolute paths), and compares standard output, the files written and, tensor by tensor, the checkpoints (safetensors).
On one rank every byte must agree. On more, text and whole numbers must agree, other numbers to one unit in their last printed
place or within the tolerance, and of each tensor max|difference| / max|value| must be within the tolerance.

  -n 1,2,3,4            numbers of ranks
  --tolerance T         relative tolerance (default 1e-10 for float64 and printed numbers, 1e-5 for float32)
  --timeout S           seconds for each run (default 300); then the program and all its children are killed
  --exclude REGEX       leave out tensors whose name matches, such as parameters whose exact gradient is zero (repeatable)
  --ignore-line REGEX   leave out lines of text that match, such as timings (repeatable)
  --copy PATH           put this file or folder into every scratch folder first (repeatable)
  --env NAME=VALUE      environment of the distributed program only (repeatable)
  --expect-status S     exit status that both programs must end with (default 0)
  --launcher PROGRAM    what starts ranks: mpirun (default) or one that takes its options, or hvd-run, for ranks on this host without MPI
  --keep                keep the scratch folders and say where they are
  --label TEXT, --rows FILE   append the rows of the table to FILE, separated by tabs, TEXT first

exit: 0 equal, 1 different, 2 usage, 3 a program failed or ran out of time
)";
}

}  // namespace hvdize::compare
