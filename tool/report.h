// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

#include "rewriters/diagnostics/print.h"
#include "rewriters/driver.h"
#include "tool/arguments.h"

namespace hvdize::tool {

/// One source, rewritten or not.
struct Outcome {
  CompileJob job;
  std::string output;  ///< the file that is written; empty when none is
  RewriteResult result;
  std::vector<Diagnostic> diagnostics;
};

/// Diagnostics, then one line that says what was done and how to run it.
void printReport(llvm::raw_ostream& os, const Arguments& arguments, const std::vector<Outcome>& outcomes, bool color);
/// The JSON report; docs/diagnostics.md describes it.
std::string jsonReport(const Arguments& arguments, const std::vector<Outcome>& outcomes, int exitStatus);

}  // namespace hvdize::tool
