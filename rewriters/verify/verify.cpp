// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/verify.h"

namespace hvdize {

void verifyRewritten(clang::ASTContext&, const Dialect&, DiagEngine&, const std::string&) {}

}  // namespace hvdize
