// SPDX-License-Identifier: Apache-2.0
// What a mean over counted terms was divided by, written out where its weight is needed.
#include "clang/AST/DeclCXX.h"
#include "clang/AST/StmtCXX.h"

#include <algorithm>

#include "rewriters/passes/steps.h"
#include "rewriters/program/changes.h"

using namespace clang;

namespace hvdize {

namespace {

unsigned offsetOf(const Model& m, const Stmt* s) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  return sm.getFileOffset(sm.getFileLoc(s->getBeginLoc()));
}

bool isAround(const Model& m, const Stmt* outer, const Stmt* s) {
  for (; s; s = m.code.parent(s))
    if (s == outer) return true;
  return false;
}

// Is another variable of this name declared in a block around `at`?
bool isHidden(const Model& m, const ValueDecl* d, const Stmt* at) {
  for (const Stmt* p = at; p; p = m.code.parent(p))
    for (const Stmt* c : p->children())
      if (const auto* declared = dyn_cast_or_null<DeclStmt>(c))
        for (const Decl* other : declared->decls()) {
          const auto* v = dyn_cast<NamedDecl>(other);
          if (v && v != d && v->getDeclName() == d->getDeclName()) return true;
        }
  return false;
}

// Does this name mean at `at` what it meant at `from`, in the same function and before it?
bool meansTheSame(const Model& m, const ValueDecl* d, const Stmt* from, const Stmt* at) {
  const FunctionDecl* function = m.code.functionOf(at);
  if (isa<FunctionDecl, EnumConstantDecl>(d)) return true;
  for (const Definition& x : m.definitions.of(d)) {
    if (!x.value || m.code.functionOf(x.value) != function) continue;
    if (offsetOf(m, x.value) >= offsetOf(m, from) && offsetOf(m, x.value) < offsetOf(m, at) && !isAround(m, x.value, from)) return false;
  }
  if (isa<FieldDecl>(d)) return true;
  if (isHidden(m, d, at)) return false;
  const auto* binding = dyn_cast<BindingDecl>(d);
  const auto* v = binding ? dyn_cast<VarDecl>(binding->getDecomposedDecl()) : dyn_cast<VarDecl>(d);
  if (!v) return false;
  if (!v->isLocalVarDecl() || isa<ParmVarDecl>(v)) return true;
  const DeclStmt* declared = m.code.declStmt(v);
  return declared && isAround(m, m.code.parent(declared), at);
}

bool mayRepeat(const Model& m, const Expr* e, const Expr* from, const Expr* at) {
  bool same = m.effectFree(e) && !Changes(m.definitions, m.context.dialect).changedBetween(e, from, at);
  forEachExpr(e, [&](const Expr* x) {
    if (isa<LambdaExpr>(x)) same = false;
    if (const auto* r = dyn_cast<DeclRefExpr>(x)) same = same && meansTheSame(m, r->getDecl(), from, at);
    if (const auto* r = dyn_cast<MemberExpr>(x)) same = same && meansTheSame(m, r->getMemberDecl(), from, at);
  });
  return same;
}

// An expression as it will read: rows in it are cut to this rank's, and terms free of samples are shared out.
std::string asRewritten(const Model& m, const Expr* e) {
  e = e->IgnoreUnlessSpelledInSource()->IgnoreParens();
  std::string text = m.text(e);
  std::vector<RowCut> around = rowCuts(m);
  for (const Expr* x : m.kinds.shares()) around.push_back({x, "hvd::share_of(", ")"});
  llvm::DenseSet<const Expr*> within;
  forEachExpr(e, [&](const Expr* x) { within.insert(x); });
  llvm::erase_if(around, [&](const RowCut& c) { return !within.count(c.rows) || m.text(c.rows).empty(); });
  // From the back, and from the inside out: what has been put in moves nothing that is still to come.
  llvm::sort(around, [&](const RowCut& a, const RowCut& b) {
    return std::pair(offsetOf(m, b.rows), m.text(a.rows).size()) < std::pair(offsetOf(m, a.rows), m.text(b.rows).size());
  });
  std::vector<std::pair<size_t, size_t>> grown;  // where text ended up longer, and by how much
  for (const RowCut& c : around) {
    const size_t at = offsetOf(m, c.rows) - offsetOf(m, e);
    size_t length = m.text(c.rows).size();
    for (const auto& [place, more] : grown)
      if (place < at + m.text(c.rows).size()) length += more;
    text = text.substr(0, at) + c.before + text.substr(at, length) + c.after + text.substr(at + length);
    grown.emplace_back(at, c.before.size() + c.after.size());
  }
  return text;
}

}  // namespace

std::string countAt(Model& m, const Value& v, const Expr* at) {
  const auto refuse = [&](const char* why) {
    m.context.diags.report(DiagID::KindUnknown, v.count->getSourceRange(), m.text(v.count), why);
    return std::string();
  };
  constexpr const char* kElsewhere =
      "it is a mean over counted terms, and what is counted cannot be repeated where the mean is used; use it in the function that forms "
      "it, with what it is formed from unchanged";
  if (m.code.functionOf(v.count) != m.code.functionOf(at) || (offsetOf(m, v.count) > offsetOf(m, at) && !isAround(m, at, v.count)))
    return refuse(kElsewhere);
  if (v.counts != Counts::Loss) {
    if (!mayRepeat(m, v.count, v.count, at)) return refuse(kElsewhere);
    const bool whole = v.counts == Counts::Divisor || isa<DeclRefExpr, MemberExpr>(strip(v.count)) || (isa<CallExpr>(strip(v.count)) && !isa<CXXOperatorCallExpr>(strip(v.count)));
    const std::string count = whole ? asRewritten(m, v.count) : "(" + asRewritten(m, v.count) + ")";
    return v.counts == Counts::Mask ? count + ".sum()" : v.counts == Counts::Elements ? count + ".numel()" : count;
  }
  const auto arguments = argumentsOf(v.count);
  const Expr* object = objectOf(v.count);
  const Entry* entry = m.context.dialect.lookup(calleeOf(v.count));
  const bool module = object && m.context.dialect.is(object->getType(), Role::LossModule);
  const int target = module ? 1 : entry->target;
  const Expr* options = module ? object : entry->options >= 0 && entry->options < static_cast<int>(arguments.size()) ? arguments[entry->options] : nullptr;
  if (!options || target < 0 || target >= static_cast<int>(arguments.size()))
    return refuse("it is a mean over counted terms (ignored or weighted classes) without an object that holds the options");
  if (!mayRepeat(m, arguments[target], v.count, at) || !mayRepeat(m, options, v.count, at)) return refuse(kElsewhere);
  return "hvd::counted_terms(" + asRewritten(m, arguments[target]) + ", " + asRewritten(m, options) + ")";
}

}  // namespace hvdize
