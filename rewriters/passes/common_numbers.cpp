// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/common_numbers.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace hvdize {

namespace {

bool combines(Kind k) { return k == Kind::Mean || k == Kind::Sum || k == Kind::Max || k == Kind::Min; }

// Is `s`, a child of `parent`, computed whenever `parent` is, and as often?
bool always(const Stmt* s, const Stmt* parent) {
  if (isa<LambdaExpr, ForStmt, WhileStmt, CXXForRangeStmt, SwitchStmt, CXXTryStmt, CXXCatchStmt, LabelStmt, CaseStmt, DefaultStmt>(parent)) return false;
  if (const auto* i = dyn_cast<IfStmt>(parent)) return s == i->getCond() || s == i->getInit();
  if (const auto* c = dyn_cast<AbstractConditionalOperator>(parent)) return s == c->getCond();
  if (const auto* b = dyn_cast<BinaryOperator>(parent); b && b->isLogicalOp()) return s == b->getLHS();
  return true;  // the body of `do` is among these, as macros write it
}

bool hasLabels(const Stmt* s) {
  if (!s) return false;
  if (isa<LabelStmt, SwitchCase, GCCAsmStmt>(s)) return true;
  return llvm::any_of(s->children(), hasLabels);
}

}  // namespace

CommonNumbers::CommonNumbers(const Model& model) : model_(model) {
  std::vector<std::pair<Place, Kind>> places;
  for (const auto& [e, v] : model.kinds.reductions())
    if (combines(v.kind))
      if (const auto place = placeOf(e)) places.emplace_back(*place, v.kind);
  const SourceManager& sm = model.context.ast.getSourceManager();
  llvm::stable_sort(places, [&](const auto& a, const auto& b) {
    return sm.isBeforeInTranslationUnit(a.first.e->getBeginLoc(), b.first.e->getBeginLoc());
  });
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& [leader, kind] = places[i];
    if (!leader.block || first_.count(leader.e) || !unchangedIn(leader)) continue;
    const std::string text = model.text(leader.e);
    for (size_t j = i + 1; j < places.size(); ++j) {
      const auto& [other, otherKind] = places[j];
      if (other.of != leader.of || otherKind != kind || first_.count(other.e) || model.text(other.e) != text) continue;
      bool inside = false;
      for (const Stmt* p = other.e; p && !isa<LambdaExpr>(p) && !inside; p = model.code.parent(p)) inside = p == leader.block;
      if (!inside) continue;
      first_[leader.e] = leader.e;
      statements_[leader.e] = leader.statement;
      first_[other.e] = leader.e;
    }
  }
}

std::optional<CommonNumbers::Place> CommonNumbers::placeOf(const Expr* e) const {
  if (!model_.context.edits.canEdit(e->getSourceRange())) return std::nullopt;
  Place place;
  place.e = e;
  bool plain = true;
  forEachExpr(e, [&](const Expr* x) {
    if (const auto* r = dyn_cast<DeclRefExpr>(x)) {
      if (isa<FunctionDecl>(r->getDecl())) return;
      const auto* v = dyn_cast<VarDecl>(r->getDecl());
      plain = plain && v && v->isLocalVarDecl() && !v->isStaticLocal() && (!place.of || place.of == v);
      place.of = v;
    }
    // Only what the framework computes: the author's own functions may do more than compute.
    plain = plain && !isa<CXXThisExpr, LambdaExpr>(x) && model_.code.targets(x).empty();
    if (const auto* b = dyn_cast<BinaryOperator>(x)) plain = plain && !b->isAssignmentOp();
    if (const auto* u = dyn_cast<UnaryOperator>(x)) plain = plain && !u->isIncrementDecrementOp();
  });
  if (!plain || !place.of) return std::nullopt;
  const Stmt* child = e;
  const SourceManager& sm = model_.context.ast.getSourceManager();
  for (const Stmt* p = model_.code.parent(e); p; child = p, p = model_.code.parent(p)) {
    if (const auto* block = dyn_cast<CompoundStmt>(p)) {
      if (sm.isMacroBodyExpansion(block->getBeginLoc())) continue;
      const DeclStmt* declared = model_.code.declStmt(place.of);
      for (const Stmt* d = declared; d && declared; d = model_.code.parent(d))
        if (d == child) declared = nullptr;  // the statement itself declares what the number is computed from
      if (declared && !hasLabels(block)) place.block = block, place.statement = child;
      break;
    }
    if (!always(child, p)) break;
  }
  return place;
}

// Within the block, from the first number's statement on, the variable is only read for such numbers and differentiated; and nothing
// else is the same tensor.
bool CommonNumbers::unchangedIn(const Place& place) const {
  const SourceManager& sm = model_.context.ast.getSourceManager();
  llvm::DenseSet<const Expr*> harmless;
  for (const auto& [e, v] : model_.kinds.reductions())
    forEachExpr(e, [&](const Expr* x) { harmless.insert(x); });
  for (const BackwardSite& b : model_.backwards) forEachExpr(b.loss, [&](const Expr* x) { harmless.insert(x); });
  bool unchanged = true;
  const FunctionDecl* function = model_.code.functionOf(place.e);
  const Function* known = function ? model_.code.find(function) : nullptr;
  forEachExpr(known ? known->body : place.block, [&](const Expr* x) {
    const auto* r = dyn_cast<DeclRefExpr>(x);
    if (!r || r->getDecl() != place.of || harmless.count(r)) return;
    const VarDecl* alias = nullptr;
    for (const Stmt* p = r; p && isa<Expr>(p) && !alias && strip(cast<Expr>(p)) == r; p = model_.code.parent(p)) alias = model_.code.variableInitialisedBy(p);
    bool within = false;
    for (const Stmt* p = r; p && !within; p = model_.code.parent(p)) within = p == place.block;
    unchanged = unchanged && !alias && (!within || sm.isBeforeInTranslationUnit(r->getBeginLoc(), place.statement->getBeginLoc()));
  });
  return unchanged;
}

}  // namespace hvdize
