// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/own_functions.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/origins.h"
#include "rewriters/program/own_parts.h"

using namespace clang;

namespace hvdize {

namespace {

const CXXMethodDecl* staticOf(const AuthorCode& code, const CXXRecordDecl* record, llvm::StringRef name) {
  const CXXMethodDecl* found = nullptr;
  for (const Function& f : code.functions()) {
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    if (!m || !m->isStatic() || !m->getDeclName().isIdentifier() || m->getName() != name || m->getParent()->getCanonicalDecl() != record->getCanonicalDecl()) continue;
    if (found) return nullptr;  // overloads, or instantiations of a template: which one is not seen
    found = m;
  }
  return found;
}

// The class that the framework's function is a member of takes the author's as its template argument.
const CXXRecordDecl* calledClass(const Expr* apply) {
  const auto* m = dyn_cast_or_null<CXXMethodDecl>(calleeOf(apply));
  const auto* of = m ? dyn_cast<ClassTemplateSpecializationDecl>(m->getParent()) : nullptr;
  if (!of || of->getTemplateArgs().size() == 0 || of->getTemplateArgs()[0].getKind() != TemplateArgument::Type) return nullptr;
  return of->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
}

OwnFunctionResult no(const Expr* where, const char* why) {
  OwnFunctionResult r;
  r.where = where;
  r.why = why;
  return r;
}

}  // namespace

OwnFunctionResult applyOwnFunction(const AuthorCode& code, const Dialect& dialect, const Expr* apply, llvm::ArrayRef<bool> rows, bool flat) {
  const CXXRecordDecl* record = calledClass(apply);
  const CXXMethodDecl* forward = record ? staticOf(code, record, "forward") : nullptr;
  const CXXMethodDecl* backward = record ? staticOf(code, record, "backward") : nullptr;
  if (!forward || !backward || backward->getNumParams() != 2 || forward->getNumParams() != rows.size() + 1)
    return no(apply, "its forward and backward passes, which are the author's, are not both to be seen");
  if (!dialect.is(forward->getReturnType(), Role::Tensor)) return no(apply, "its forward pass, which is the author's, returns more than one tensor");

  OwnParts first(code, dialect, forward->getParamDecl(0), flat);
  for (unsigned i = 0; i < rows.size(); ++i) first.set(forward->getParamDecl(i + 1), rows[i] ? PassPart::Rows : PassPart::Same);
  first.run(code.find(forward)->body);
  const PassPart made = first.result();
  if (made.kind != PassPart::Same && made.kind != PassPart::Rows) return no(first.where() ? first.where() : apply, "of a function with a backward pass of its own it is not seen that it keeps the samples apart");
  OwnFunctionResult out;
  out.rows = llvm::is_contained(rows, true);
  out.fewer = first.reduces();
  if (out.rows && made.kind != PassPart::Rows) return no(apply, "what its forward pass, which is the author's, makes of the samples is no row for each");

  OwnParts second(code, dialect, backward->getParamDecl(0), flat || first.reduces());
  second.saved() = first.saved();
  PassPart grads(PassPart::List);
  grads.items.push_back(out.rows ? PassPart::Grads : PassPart::Sum);
  second.set(backward->getParamDecl(1), grads);
  second.run(code.find(backward)->body);
  const PassPart back = second.result();
  if (back.kind != PassPart::List || back.items.size() < rows.size())
    return no(second.where() ? second.where() : apply, "of its backward pass, which is the author's, it is not seen that it keeps the samples apart and is linear in the gradients");
  for (unsigned i = 0; i < rows.size(); ++i) {
    if (!dialect.is(forward->getParamDecl(i + 1)->getType().getNonReferenceType(), Role::Tensor)) continue;
    const PassPart::Kind k = back.items[i].kind;
    if (k != PassPart::Undefined && k != PassPart::Zero && k != (rows[i] ? PassPart::Grads : PassPart::Sum))
      return no(second.where() ? second.where() : apply, rows[i] ? "of the gradients that its backward pass, which is the author's, gives the samples it is not seen that each comes from that sample alone"
                                                                   : "of a gradient that its backward pass, which is the author's, makes it is not seen that it is a sum over the samples");
  }
  return out;
}

}  // namespace hvdize
