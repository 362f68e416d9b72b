// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include "rewriters/context.h"

namespace hvdize {

struct Model;

/// One transformation.
struct PassInfo {
  const char* name;
  const char* what;
  void (*run)(Model&);
};

/// All of them, in the order in which they run.
llvm::ArrayRef<PassInfo> allPasses();

/// Builds the program model, then runs every pass in order. Edits go to `context.edits`, everything the author must know to
/// `context.diags`; any refusal means that nothing will be written.
void runPasses(PassContext& context);

}  // namespace hvdize
