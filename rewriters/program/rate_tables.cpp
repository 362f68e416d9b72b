// SPDX-License-Identifier: Apache-2.0
// Several values of a quantity in a list: `std::vector<double> rates = {0.1, 0.01};`. What is read of the list is scaled wherever it is read, shown
// to the user as well as used.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"

using namespace clang;

namespace hvdize {

namespace {

// Of `rates[i]`, `rates.at(i)`: the index.
const Expr* indexOf(const Expr* e) {
  if (const auto* s = dyn_cast<ArraySubscriptExpr>(e)) return s->getIdx();
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->getOperator() == OO_Subscript && o->getNumArgs() == 2 ? o->getArg(1) : nullptr;
  const auto* m = dyn_cast<CXXMemberCallExpr>(e);
  return m && isSystemDecl(calleeOf(m)) && calleeName(m) == "at" && argumentsOf(m).size() == 1 ? argumentsOf(m)[0] : nullptr;
}

const VarDecl* tableOf(const Expr* e) {
  const Expr* base = isa<ArraySubscriptExpr>(e) ? cast<ArraySubscriptExpr>(e)->getBase() : objectOf(e);
  const auto* v = base ? dyn_cast_or_null<VarDecl>(declOf(strip(base))) : nullptr;
  if (!v || isa<ParmVarDecl>(v)) return nullptr;
  const CXXRecordDecl* r = v->getType()->getAsCXXRecordDecl();
  const bool list = r && r->isInStdNamespace() && r->getIdentifier() && (r->getName() == "vector" || r->getName() == "array" || r->getName() == "deque" || r->getName() == "initializer_list");
  return list || v->getType()->isArrayType() ? v : nullptr;
}

// What the list is made with, number by number; false where that is not seen.
bool numbersOf(const Expr* made, llvm::SmallVectorImpl<const Expr*>& out) {
  const Expr* e = strip(made);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    if (k->getNumArgs() == 0) return true;
    e = strip(k->getArg(0));
    if (!isa<InitListExpr, CXXStdInitializerListExpr>(e)) return false;
  }
  if (const auto* s = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(s->getSubExpr());
  const auto* list = dyn_cast<InitListExpr>(e);
  if (!list) return false;
  for (const Expr* x : list->inits()) {
    if (isa<ImplicitValueInitExpr>(x)) continue;
    if (isa<InitListExpr>(strip(x)) ? !numbersOf(x, out) : !x->getType()->isArithmeticType()) return false;
    if (!isa<InitListExpr>(strip(x))) out.push_back(x);
  }
  return true;
}

}  // namespace

// The list that a loop goes through, `for (double rate : rates)`.
const VarDecl* Quantity::listBehind(const VarDecl* element) const {
  const Stmt* p = definitions_.code().declStmt(element);
  while (p && !isa<CXXForRangeStmt>(p)) p = definitions_.code().parent(p);
  const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(p);
  const auto* v = loop && loop->getLoopVariable() == element && loop->getRangeInit() ? dyn_cast_or_null<VarDecl>(declOf(strip(loop->getRangeInit()))) : nullptr;
  return v && !isa<ParmVarDecl>(v) ? v : nullptr;
}

// False: the list is filled out of sight, or holds other things, too (`settings[0]`, `settings[1]`).
bool Quantity::traceTable(const VarDecl* table, const std::string& label) {
  llvm::SmallVector<const Expr*, 8> numbers;
  if (tables_.count(table)) return true;
  const auto given = definitions_.of(table);
  for (const Definition& def : given)
    if (!def.value || def.compound || def.through || !numbersOf(def.value, numbers)) return false;
  std::vector<const Expr*> reads;
  const AuthorCode& code = definitions_.code();
  for (const Expr* use : definitions_.uses(table)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ParenExpr, ImplicitCastExpr, MemberExpr>(p)) p = code.parent(p);
    const auto* e = dyn_cast_or_null<Expr>(p);
    const Expr* index = e ? indexOf(e) : nullptr;
    Expr::EvalResult r;
    if (index && !index->isValueDependent() && index->EvaluateAsInt(r, code.context())) return false;
    if (index && isRead(code, e)) reads.push_back(e);
  }
  const llvm::SmallVector<const Expr*, 4> put = putInto(table);
  numbers.append(put.begin(), put.end());
  if (numbers.empty()) return false;
  tables_.insert(table);
  // What is made before the ranks are there is scaled where it is read.
  if (!table->isLocalVarDecl() || table->isStaticLocal() || table->isConstexpr()) {
    for (const Expr* e : reads) place(e, label);
    for (const VarDecl* element : elementsOf(table))
      if (scaled_.insert(element).second) traceReads(element, table->getInit(), label);
    return true;
  }
  scaled_.insert(table);
  for (const VarDecl* element : elementsOf(table)) scaled_.insert(element);
  for (const Expr* n : numbers) trace(n, label);
  return true;
}

// The variables of the loops that go through the list.
llvm::SmallVector<const VarDecl*, 2> Quantity::elementsOf(const VarDecl* table) const {
  llvm::SmallVector<const VarDecl*, 2> out;
  for (const Expr* use : definitions_.uses(table))
    for (const Stmt* p = use; p; p = definitions_.code().parent(p))
      if (const auto* loop = dyn_cast<CXXForRangeStmt>(p)) {
        if (strip(loop->getRangeInit()) == strip(use) && !llvm::is_contained(out, loop->getLoopVariable())) out.push_back(loop->getLoopVariable());
        break;
      }
  return out;
}

// `rates[i]`, where `i` is no constant.
bool Quantity::traceSubscript(const Expr* e, const std::string& label) {
  const Expr* index = changes_ == Changes::Relative && !stay_ ? indexOf(e) : nullptr;
  const VarDecl* table = index ? tableOf(e) : nullptr;
  return table && traceTable(table, label);
}

}  // namespace hvdize
