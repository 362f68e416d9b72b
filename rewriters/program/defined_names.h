// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace clang {
class ASTContext;
}

namespace hvdize {

/// The functions and variables that the object of this source defines for others, as a linker calls them: those that the author's files
/// (the traversal scope) define and that are in the object whether it uses them or not. Not complete: tables of virtual functions and
/// instantiations of templates are left out.
std::vector<std::string> definedNames(clang::ASTContext& ast);

}  // namespace hvdize
