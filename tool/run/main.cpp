// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "tool/run/job.h"
#include "tool/run/options.h"

namespace {

// One rank is the program itself.
int becomeProgram(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::cerr << "hvd-run: " << command[0] << ": " << std::strerror(error) << "\n";
  return error == ENOENT ? 127 : 126;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hvdize::run;
  const Parsed parsed = parseOptions({argv + 1, argv + argc});
  if (parsed.help) {
    std::cout << usage();
    return 0;
  }
  if (!parsed.error.empty()) {
    std::cerr << "hvd-run: " << parsed.error << " (--help says what there is)\n";
    return 2;
  }
  if (parsed.options.ranks == 1 && !parsed.options.label) return becomeProgram(parsed.options.command);
  return Job(parsed.options).run();
}
