// SPDX-License-Identifier: Apache-2.0
#include "tool/run/options.h"

#include <charconv>

namespace hvdize::run {

namespace {

bool readRanks(const std::string& text, int& ranks) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  return error == std::errc() && end == text.data() + text.size() && ranks >= 1 && ranks <= MaxRanks;
}

}  // namespace

Parsed parseOptions(const std::vector<std::string>& arguments) {
  Parsed parsed;
  size_t i = 0;
  for (; i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-'; ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "-h" || word == "--help") {
      parsed.help = true;
      return parsed;
    }
    if (word == "--label") {
      parsed.options.label = true;
    } else if (word == "-n" || word == "-np") {
      if (++i == arguments.size() || !readRanks(arguments[i], parsed.options.ranks)) {
        parsed.error = word + " wants a number of ranks from 1 to " + std::to_string(MaxRanks);
        return parsed;
      }
    } else {
      parsed.error = "unknown option '" + word + "'";
      return parsed;
    }
  }
  parsed.options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  if (parsed.options.ranks == 0) parsed.error = "-n N, the number of ranks, is missing";
  else if (parsed.options.command.empty()) parsed.error = "the program is missing";
  return parsed;
}

std::string usage() {
  return "usage: hvd-run -n N [--label] [--] PROGRAM [ARGUMENT...]\n"
         "\n"
         "Starts PROGRAM as N ranks on this machine, which exchange data through shared memory. MPI is not needed.\n"
         "\n"
         "  -n N      the number of ranks\n"
         "  --label   puts the rank in front of every line of output: \"[2] \"\n"
         "\n"
         "Output is passed on line by line; the first rank reads standard input. Signals go to all ranks. When one rank fails, the\n"
         "others are ended. The exit status is that of the first rank that failed, 128 + N for one that signal N has ended, else 0.\n";
}

}  // namespace hvdize::run
