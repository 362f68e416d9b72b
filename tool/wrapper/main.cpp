// SPDX-License-Identifier: Apache-2.0
//
// hvdize-c++: stands where a C++ compiler stands. Translation units that train are compiled in their distributed form; everything else
// is the real compiler's business. docs/wrapper.md describes it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include "tool/wrapper/compile.h"
#include "tool/wrapper/link.h"
#include "tool/wrapper/process.h"
#include "tool/wrapper/program.h"

namespace {

constexpr const char* kHelp = R"(hvdize-c++: a C++ compiler for sequential training programs that makes distributed ones.

usage: hvdize-c++ ARGUMENTS OF A COMPILER...               CXX=hvdize-c++, cmake -DCMAKE_CXX_COMPILER=hvdize-c++
       hvdize-c++ COMPILER ARGUMENTS OF A COMPILER...      cmake -DCMAKE_CXX_COMPILER_LAUNCHER=hvdize-c++ -DCMAKE_CXX_LINKER_LAUNCHER=hvdize-c++

  --hvdize-OPTION[=VALUE]   an option of hvdize, for example --hvdize-batch=global (when compiling and when linking)
  --hvdize-off              compile and link as it is written
  --hvdize-defer=off        compile everything by -c: nothing waits for the link step
  --hvdize-help             this text

environment
  HVDIZE_CXX=COMPILER       the real compiler; by default the one that hvdize was built with
  HVDIZE_FLAGS=OPTIONS      options of hvdize, for all programs
  HVDIZE_JOBS=N             units that a link compiles at a time (2)
  HVDIZE_KEEP=DIR           keep the rewritten sources below DIR
  HVDIZE_FALLBACK=sequential  a program that is refused is linked as it is written, with a warning
  HVDIZE=off                as --hvdize-off
  HVDIZE_DEFER=off          as --hvdize-defer=off
)";

int run(const std::vector<std::string>& arguments) {
  using namespace hvdize::wrapper;
  const Site site = findSite();
  const Command command = parseCommand(arguments, site.compiler);
  switch (command.mode) {
    case Command::Mode::PassThrough: break;
    case Command::Mode::Compile:
      if (command.off) break;
      return compileStep(site, command);
    case Command::Mode::Link: return linkStep(site, command);
  }
  become(commandAsGiven(command));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--hvdize-help") == 0) return std::fputs(kHelp, stdout) < 0;
  try {
    return run({argv + 1, argv + argc});
  } catch (const hvdize::wrapper::Refused& refused) {
    return refused.status;
  } catch (const std::exception& error) {
    std::cerr << "hvdize-c++: error: " << error.what() << "\n";
    return 1;
  }
}
