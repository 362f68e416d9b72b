// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/defined_names.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace hvdize {
namespace {

using namespace clang;

class Finder : public RecursiveASTVisitor<Finder> {
 public:
  explicit Finder(ASTContext& ast) : ast_(ast), names_(ast) {}

  bool VisitFunctionDecl(FunctionDecl* f) {
    if (f->isThisDeclarationADefinition() && !f->isInlined()) add(f);
    return true;
  }
  bool VisitVarDecl(VarDecl* v) {
    if (v->hasGlobalStorage() && !v->isStaticLocal() && !v->isInline() && v->isThisDeclarationADefinition() == VarDecl::Definition) add(v);
    return true;
  }
  bool TraverseStmt(Stmt*) { return true; }  // nothing in a body is for others

  std::vector<std::string> found;

 private:
  void add(const NamedDecl* d) {
    if (!d->hasExternalFormalLinkage() || d->isTemplated() || d->isInvalidDecl()) return;
    const std::vector<std::string> several = names_.getAllManglings(d);  // constructors and destructors
    for (const std::string& name : several.empty() ? std::vector<std::string>{names_.getName(d)} : several)
      if (!name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '$'; })) found.push_back(name);
  }

  ASTContext& ast_;
  ASTNameGenerator names_;
};

}  // namespace

std::vector<std::string> definedNames(ASTContext& ast) {
  Finder finder(ast);
  finder.TraverseAST(ast);
  return std::move(finder.found);
}

}  // namespace hvdize
