// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include "tool/compare/options.h"
#include "tool/compare/process.h"
#include "tool/compare/verify.h"

#ifndef HVDIZE_MPIRUN
#define HVDIZE_MPIRUN "mpirun"
#endif

int main(int argc, char** argv) {
  using namespace hvdize::compare;
  const auto parsed = parseOptions({argv + 1, argv + argc});
  if (std::holds_alternative<HelpWanted>(parsed)) {
    std::cout << usage();
    return static_cast<int>(ExitCode::Equal);
  }
  if (const auto* error = std::get_if<UsageError>(&parsed)) {
    std::cerr << "hvd-verify: " << error->message << " (--help says what there is)\n";
    return static_cast<int>(ExitCode::Usage);
  }
  adoptOrphans();
  try {
    const auto& options = std::get<Options>(parsed);
    return static_cast<int>(verify(options, options.launcher.empty() ? HVDIZE_MPIRUN : options.launcher));
  } catch (const std::exception& error) {
    std::cerr << "hvd-verify: " << error.what() << "\n";
    return static_cast<int>(ExitCode::Usage);
  }
}
