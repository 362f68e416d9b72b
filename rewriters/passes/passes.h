// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rewriters/context.h"

namespace hvdize {

/// Builds the program model, then runs every pass in order. Edits go to `context.edits`, everything the author must know to
/// `context.diags`; any refusal means that nothing will be written.
void runPasses(PassContext& context);

}  // namespace hvdize
