// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/passes.h"

namespace hvdize {

void runPasses(PassContext&) {}

}  // namespace hvdize
