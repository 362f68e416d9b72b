// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace clang {
class ASTContext;
}

namespace hvdize {

class DiagEngine;
class Dialect;

/// Checks the rewritten program: every collective is reached by all ranks or by none, every branch and loop exit around one is
/// rank-uniform. Reports refusals; locations in `ast` are those of the rewritten text, and `diags` maps them back. `frameworkFolder`: see PassContext.
void verifyRewritten(clang::ASTContext& ast, const Dialect& dialect, DiagEngine& diags, const std::string& frameworkFolder);

}  // namespace hvdize
