// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/common_numbers.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/changes.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

bool combines(Kind k) { return k == Kind::Mean || k == Kind::Sum || k == Kind::Max || k == Kind::Min || k == Kind::Sharded; }

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

// May running `s` change the variable `d`, or the tensor it names? What the framework changes in an argument has a name that says so.
bool changes(const Model& m, const Stmt* s, const VarDecl* d) {
  bool yes = false;
  forEachExpr(s, [&](const Expr* x) {
    const auto named = [&](const Expr* e) { return e && rootOf(e) == d; };
    if (const auto* b = dyn_cast<BinaryOperator>(x); b && b->isAssignmentOp()) yes = yes || named(b->getLHS());
    if (const auto* u = dyn_cast<UnaryOperator>(x); u && (u->isIncrementDecrementOp() || u->getOpcode() == UO_AddrOf)) yes = yes || named(u->getSubExpr());
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(x); o && o->isAssignmentOp()) yes = yes || named(o->getArg(0));
    const FunctionDecl* f = calleeOf(x);
    const llvm::StringRef name = f && f->getDeclName().isIdentifier() ? f->getName() : "";
    if (name.ends_with("_")) yes = yes || named(objectOf(x));
    // std::optional<T>(labels) takes whatever reference it is given, and copies.
    const bool holds = isa<CXXConstructExpr>(x) && isStdRecord(x->getType());
    const bool reads = f && (holds || (m.context.dialect.owns(f) && !name.ends_with("_") && !name.ends_with("_out")));
    for (unsigned i = 0; f && !reads && i < argumentsOf(x).size(); ++i) {
      const ParmVarDecl* p = parameterOf(x, i);
      const QualType t = p ? p->getType() : QualType();
      if (!t.isNull() && t->isLValueReferenceType() && !t->getPointeeType().isConstQualified()) yes = yes || named(argumentsOf(x)[i]);
    }
  });
  return yes;
}

}  // namespace

CommonNumbers::CommonNumbers(const Model& model) : model_(model) {
  findNumbers();
  findRows();
}

void CommonNumbers::findNumbers() {
  std::vector<std::pair<Place, Kind>> places;
  for (const auto& [e, v] : model_.kinds.reductions())
    if (combines(v.kind) && !model_.kinds.gradedReductions().contains(e) && !(v.kind == Kind::Sharded && gatheredWhole(model_, e)))
      if (const auto place = placeOf(e)) places.emplace_back(*place, v.kind);
  const SourceManager& sm = model_.context.ast.getSourceManager();
  llvm::stable_sort(places, [&](const auto& a, const auto& b) {
    return sm.isBeforeInTranslationUnit(a.first.e->getBeginLoc(), b.first.e->getBeginLoc());
  });
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& [leader, kind] = places[i];
    if (!leader.block || first_.count(leader.e)) continue;
    if (kind == Kind::Sharded && placeOfRows(leader.e)) continue;  // in a loop inside the step: see findRows
    const Changes elsewhere(model_.definitions, model_.context.dialect);
    const Stmt* extent = leader.block;
    if (kind == Kind::Sharded) {
      const auto changed = [&](const Stmt* s) { return changes(model_, s, leader.of) || elsewhere.changedIn(leader.e, s); };
      // The ends of a range, `e.data_ptr(), e.data_ptr() + n`, are those of one gathered tensor, whatever the other statements do.
      if (changed(extent)) extent = isa<Expr, DeclStmt>(leader.statement) && !changed(leader.statement) ? leader.statement : nullptr;
    } else if (!unchangedIn(leader)) {
      extent = nullptr;
    }
    if (!extent) continue;
    const std::string text = model_.text(leader.e);
    for (size_t j = i + 1; j < places.size(); ++j) {
      const auto& [other, otherKind] = places[j];
      if (other.of != leader.of || otherKind != kind || first_.count(other.e) || model_.text(other.e) != text) continue;
      bool inside = false;
      for (const Stmt* p = other.e; p && !isa<LambdaExpr>(p) && !inside; p = model_.code.parent(p)) inside = p == extent;
      if (!inside) continue;
      first_[leader.e] = leader.e;
      statements_[leader.e] = leader.statement;
      first_[other.e] = leader.e;
    }
  }
}

void CommonNumbers::findRows() {
  std::vector<Place> places;
  for (const auto& [e, v] : model_.kinds.reductions())
    if (v.kind == Kind::Sharded && !first_.count(e) && !gatheredWhole(model_, e))
      if (const auto place = placeOfRows(e)) places.push_back(*place);
  const SourceManager& sm = model_.context.ast.getSourceManager();
  llvm::stable_sort(places, [&](const Place& a, const Place& b) { return sm.isBeforeInTranslationUnit(a.e->getBeginLoc(), b.e->getBeginLoc()); });
  for (size_t i = 0; i < places.size(); ++i) {
    const Place& leader = places[i];
    if (first_.count(leader.e)) continue;
    statements_[leader.e] = leader.statement;
    for (size_t j = i; j < places.size(); ++j)
      if (places[j].statement == leader.statement && model_.text(places[j].e) == model_.text(leader.e)) first_[places[j].e] = leader.e;
  }
}

// The only local variable that `e` is computed from, by what the framework computes: the author's own functions may do more than compute.
const VarDecl* CommonNumbers::onlyVariable(const Expr* e) const {
  if (!model_.context.edits.canEdit(e->getSourceRange())) return nullptr;
  const VarDecl* of = nullptr;
  bool plain = true;
  forEachExpr(e, [&](const Expr* x) {
    if (const auto* r = dyn_cast<DeclRefExpr>(x); r && !isa<FunctionDecl>(r->getDecl())) {
      const auto* v = dyn_cast<VarDecl>(r->getDecl());
      plain = plain && v && v->isLocalVarDecl() && !v->isStaticLocal() && (!of || of == v);
      of = v;
    }
    plain = plain && !isa<CXXThisExpr, LambdaExpr>(x) && model_.code.targets(x).empty();
    if (const auto* b = dyn_cast<BinaryOperator>(x)) plain = plain && !b->isAssignmentOp();
    if (const auto* u = dyn_cast<UnaryOperator>(x)) plain = plain && !u->isIncrementDecrementOp();
  });
  return plain ? of : nullptr;
}

// The outermost loop inside the step that reads the rows, when it does not change them.
std::optional<CommonNumbers::Place> CommonNumbers::placeOfRows(const Expr* e) const {
  Place place;
  place.e = e;
  place.of = onlyVariable(e);
  if (!place.of) return std::nullopt;
  const SourceManager& sm = model_.context.ast.getSourceManager();
  for (const Stmt *p = e, *up = nullptr; p && !isa<LambdaExpr>(p); p = up) {
    up = model_.code.parent(p);
    const bool loop = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(p);
    if (loop && model_.batches.isStepLoop(p)) break;
    const auto* block = dyn_cast_or_null<CompoundStmt>(up);
    if (loop && block && !sm.isMacroBodyExpansion(p->getBeginLoc())) place.block = block, place.statement = p;
  }
  if (!place.statement) return std::nullopt;
  for (const Stmt* p = model_.code.declStmt(place.of); p; p = model_.code.parent(p))
    if (p == place.statement) return std::nullopt;
  const Changes elsewhere(model_.definitions, model_.context.dialect);
  return changes(model_, place.statement, place.of) || elsewhere.changedIn(e, place.statement) ? std::nullopt : std::optional(place);
}

std::optional<CommonNumbers::Place> CommonNumbers::placeOf(const Expr* e) const {
  Place place;
  place.e = e;
  place.of = onlyVariable(e);
  if (!place.of) return std::nullopt;
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
