// SPDX-License-Identifier: Apache-2.0
//
// hvd-trace FILE [--html PAGE] [--merge FILE]: the summary of a trace that HVD_TRACE=FILE has written.
#include <cstdio>
#include <fstream>
#include <string>

#include "tool/trace/events.h"
#include "tool/trace/html.h"
#include "tool/trace/summary.h"

namespace {

using namespace hvdize::trace;

constexpr const char* kUsage =
    "usage: hvd-trace FILE [--html PAGE] [--merge OUT]\n"
    "  FILE         what HVD_TRACE=FILE has written; of a run that did not come to its end, its parts FILE.rank0, FILE.rank1, ...\n"
    "  --html PAGE  writes a page with the summary and the time line, which needs no network\n"
    "  --merge OUT  puts such parts together into one file for a trace viewer\n";

struct Options {
  std::string file, html, merge;
};

bool parse(int argc, char** argv, Options& options, std::string& error) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string* value = argument == "--html" ? &options.html : argument == "--merge" ? &options.merge : nullptr;
    if (value) {
      if (++i == argc) return error = argument + " wants a file", false;
      *value = argv[i];
    } else if (argument.size() > 1 && argument[0] == '-') {
      return error = "unknown option '" + argument + "'", false;
    } else if (!options.file.empty()) {
      return error = "one file, not '" + argument + "' as well", false;
    } else {
      options.file = argument;
    }
  }
  if (options.file.empty()) error = "no file";
  return error.empty();
}

void run(const Options& options) {
  const Run traced = readRun(options.file);
  if (!options.merge.empty()) {
    if (traced.complete) throw TraceError(options.file + ": is one file already, there is nothing to merge");
    writeMerged(traced, options.merge);
  }
  const Summary summary = summarise(traced);
  std::fputs(print(traced, summary).c_str(), stdout);
  if (options.html.empty()) return;
  std::ofstream page(options.html);
  page << htmlPage(traced, summary);
  if (!page.flush()) throw TraceError(options.html + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  Options options;
  std::string error;
  if (!parse(argc, argv, options, error)) {
    std::fprintf(stderr, "hvd-trace: %s\n%s", error.c_str(), kUsage);
    return 2;
  }
  try {
    run(options);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "hvd-trace: %s\n", failure.what());
    return 1;
  }
}
