// SPDX-License-Identifier: Apache-2.0
// In braces a number must fit the type at hand, unless the compiler knows it: `{batch_size, -1}` of an unsigned constant that the number of ranks
// multiplies now. Nor do compilers warn of signs where such a constant is compared: `rows.size() < 8`.
#include "rewriters/passes/steps.h"
#include "rewriters/program/constants.h"

using namespace clang;

namespace hvdize {

namespace {

template <class Consider>
void variablesIn(const Stmt* s, const Consider& consider) {
  if (!s) return;
  if (const auto* ds = dyn_cast<DeclStmt>(s))
    for (const Decl* d : ds->decls())
      if (const auto* v = dyn_cast<VarDecl>(d)) consider(v);
  for (const Stmt* c : s->children()) variablesIn(c, consider);
}

// Variables whose initialisers were constants, and hold an edited number.
llvm::DenseSet<const ValueDecl*> changedConstants(const Model& m) {
  llvm::DenseSet<const ValueDecl*> changed;
  const auto holds = [&](const VarDecl* v) {
    bool yes = false;
    forEachExpr(v->getInit(), [&](const Expr* x) { yes = yes || m.batchSize.places().contains(x) || (isa<DeclRefExpr>(x) && changed.count(declOf(x))); });
    return yes;
  };
  std::vector<const VarDecl*> constants;
  const auto consider = [&](const ValueDecl* d) {
    const auto* v = dyn_cast<VarDecl>(d);
    if (v && v->getInit() && v->getType().isConstQualified() && v->getType()->isIntegerType()) constants.push_back(v);
  };
  for (const ValueDecl* g : m.code.globals()) consider(g);
  for (const Function& f : m.code.functions()) variablesIn(f.body, consider);
  for (bool more = true; more;) {
    more = false;
    for (const VarDecl* v : constants)
      if (!changed.count(v) && holds(v)) more = changed.insert(v).second;
  }
  return changed;
}

// The unsigned type to which the constant is converted where it is compared; empty where it is not, or where the compiler does not know that it is
// not negative.
std::string castInComparison(const Expr* operand, const Model& m) {
  const Stmt* parent = m.code.parent(operand);
  const auto* b = dyn_cast_or_null<BinaryOperator>(parent);
  const Expr* inner = strip(operand);
  if (!b || !b->isComparisonOp() || !operand->getType()->isUnsignedIntegerType() || !inner->getType()->isSignedIntegerType()) return "";
  Expr::EvalResult value;
  if (!inner->EvaluateAsInt(value, m.context.ast) || value.Val.getInt().isNegative()) return "";
  return operand->getType().getCanonicalType().getUnqualifiedType().getAsString(m.context.ast.getPrintingPolicy());
}

}  // namespace

std::string numberIn(const Model& m, const char* function, const Expr* e) {
  e = insideBraces(e);
  const Stmt* element = e;
  for (const Stmt* p = m.code.parent(e); p && isa<ImplicitCastExpr, ParenExpr>(p); p = m.code.parent(p)) element = p;
  const bool braces = isa_and_nonnull<InitListExpr>(m.code.parent(element));
  const std::string type = braces ? castInBraces(cast<Expr>(element), m.context.ast) : castInComparison(cast<Expr>(element), m);
  return std::string(function) + (type.empty() ? "(" : "<" + type + ">(");
}

void castConstants(Model& m) {
  if (m.unknownBatch) return;
  const llvm::DenseSet<const ValueDecl*> changed = changedConstants(m);
  const auto lists = [&](const Expr* tree) {
    forEachExpr(tree, [&](const Expr* x) {
      const auto* list = dyn_cast<InitListExpr>(x);
      if (!list || !list->isSemanticForm()) return;
      for (const Expr* element : list->inits()) {
        const Expr* inner = strip(element);
        const std::string type = castInBraces(element, m.context.ast);
        const auto given = [&](const auto& edited) { return llvm::any_of(edited, [&](const Expr* x) { return strip(x) == inner; }); };
        if (type.empty() || given(m.batchSize.places()) || given(m.kinds.localSizes())) continue;
        bool touched = false;
        forEachExpr(inner, [&](const Expr* y) { touched = touched || m.batchSize.places().contains(y) || (isa<DeclRefExpr>(y) && changed.count(declOf(y))); });
        if (touched) m.context.edits.wrap(inner, "static_cast<" + type + ">(", ")", {DiagID::BatchSizeScaled, "in braces, where the compiler knew it"});
      }
    });
  };
  const auto comparison = [&](const Expr* x) {
    const auto* b = dyn_cast<BinaryOperator>(x);
    if (!b || !b->isComparisonOp()) return;
    for (const Expr* operand : {b->getLHS(), b->getRHS()}) {
      const Expr* inner = strip(operand);
      const std::string type = castInComparison(operand, m);
      if (type.empty() || m.batchSize.places().contains(inner)) continue;
      bool touched = false;
      forEachExpr(inner, [&](const Expr* y) { touched = touched || m.batchSize.places().contains(y) || (isa<DeclRefExpr>(y) && changed.count(declOf(y))); });
      if (touched) m.context.edits.wrap(inner, "static_cast<" + type + ">(", ")", {DiagID::BatchSizeScaled, "compared, where the compiler knew it"});
    }
  };
  for (const Root& r : m.code.roots()) {
    if (r.in && r.initialises && !isa<ParmVarDecl>(r.initialises)) lists(cast<Expr>(r.code));
    else
      forEachExpr(r.code, [&](const Expr* e) {
        if (isa<InitListExpr>(e)) lists(e);
      });
    forEachExpr(r.code, comparison);
  }
}

}  // namespace hvdize
