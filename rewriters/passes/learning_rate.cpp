// SPDX-License-Identifier: Apache-2.0
// Absolute learning rates are scaled where they enter; relative changes are left alone.
#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// A rate of zero stays zero under any factor (the end of a cosine schedule).
bool isLiteralZero(const Expr* e) {
  e = strip(e);
  if (const auto* i = dyn_cast<IntegerLiteral>(e)) return i->getValue() == 0;
  const auto* f = dyn_cast<FloatingLiteral>(e);
  return f && f->getValue().isZero();
}

// Does the expression read a rate that an optimizer or schedule holds already?
bool readsRate(const Model& m, const Expr* e) {
  bool yes = false;
  forEachExpr(e, [&](const Expr* x) {
    if (calleeOf(x) && m.context.dialect.is(x, Role::LrRead)) yes = true;
  });
  return yes;
}

struct Rule {
  std::string suffix, name;
  bool known = true;
};

Rule ruleOf(Model& m) {
  bool sums = false, means = false, sgd = false, adaptive = false;
  for (const BackwardSite& b : m.backwards) (b.kind.kind == Kind::Sum ? sums : means) = true;
  for (const OptimizerSite& o : m.optimizers) (o.rule == OptimizerRule::Adaptive ? adaptive : sgd) = true;
  if (sums && means) return {"", "", m.context.options.lrScaling != LrScaling::Auto};
  if (sums) return {", hvd::LrRule::none)", "none"};
  if (adaptive && !sgd) return {", hvd::LrRule::sqrt)", "sqrt"};
  if (!adaptive) return {")", "linear"};
  return {"", ""};  // per site
}

// The rule of the optimizer whose options or rate this is, by the class that is named.
std::string suffixFor(const Model& m, const Expr* sink, const Rule& rule) {
  if (!rule.suffix.empty()) return rule.suffix;
  const FunctionDecl* f = calleeOf(sink);
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
  for (const OptimizerSite& o : m.optimizers) {
    const bool ours = [&] {
      bool in = false;
      forEachExpr(o.construct, [&](const Expr* x) { in = in || x == sink; });
      const Expr* object = objectOf(sink);
      return in || (object && m.text(object) == o.name);
    }();
    if (ours) return o.rule == OptimizerRule::Adaptive ? ", hvd::LrRule::sqrt)" : ")";
  }
  (void)method;
  return "";
}

}  // namespace

void scaleLearningRate(Model& m) {
  const Rule rule = ruleOf(m);
  if (!rule.known) {
    m.context.diags.report(DiagID::MixedLosses, m.backwards.front().call->getSourceRange());
    return;
  }
  m.context.summary.lrRule = rule.name;
  Quantity q(m.definitions, Quantity::Changes::Relative);
  q.know([&m](const Expr* e) { return readsRate(m, e); });
  struct Sink { const Expr* call; const Expr* argument; };
  std::vector<Sink> direct, computed;
  for (Role role : {Role::AbsoluteLr, Role::LrWrite})
    for (const Site& s : m.sites.of(role)) {
      const auto arguments = argumentsOf(s.call);
      if (s.entry->arg < 0 || s.entry->arg >= static_cast<int>(arguments.size())) continue;
      const Expr* a = arguments[s.entry->arg];
      if (readsRate(m, a)) continue;
      if (isLiteralZero(a)) continue;
      (declOf(strip(a)) ? direct : computed).push_back({s.call, a});
    }
  // `options.lr() = x`: the setter that returns a reference.
  for (const Site& s : m.sites.of(Role::LrRead)) {
    const auto* assign = dyn_cast_or_null<BinaryOperator>(m.code.parent(s.call));
    if (!assign || assign->getOpcode() != BO_Assign || assign->getLHS()->IgnoreParenImpCasts() != s.call) continue;
    if (readsRate(m, assign->getRHS()) || isLiteralZero(assign->getRHS())) continue;
    (declOf(strip(assign->getRHS())) ? direct : computed).push_back({s.call, assign->getRHS()});
  }
  // Variables first: what is computed from them is scaled with them.
  std::vector<std::pair<const Expr*, std::string>> places;
  const auto take = [&](const Sink& s) {
    const size_t before = q.places().size();
    const std::string suffix = suffixFor(m, s.call, rule);
    if (suffix.empty()) {
      m.context.diags.report(DiagID::UnresolvedOptimizer, s.argument->getSourceRange(), "the program has optimizers with different learning-rate rules");
      return;
    }
    q.trace(s.argument);
    for (size_t i = before; i < q.places().size(); ++i) places.emplace_back(q.places()[i], suffix);
  };
  for (const Sink& s : direct) take(s);
  for (const Sink& s : computed)
    if (!q.derived(s.argument)) take(s);
  for (const Expr* e : q.mixed()) m.context.diags.report(DiagID::RateMixed, e->getSourceRange(), m.text(e));
  for (const auto& [e, suffix] : places) {
    if (readsRate(m, e) || isLiteralZero(e)) continue;
    m.context.diags.report(DiagID::LearningRateScaled, e->getSourceRange(),
                           suffix == ")" ? "linear" : suffix.find("sqrt") != std::string::npos ? "square root" : "none (summed loss)");
    m.context.edits.wrap(e, "hvd::scaled_lr(", suffix, {DiagID::LearningRateScaled, "the rate for the global batch"});
  }
}

}  // namespace hvdize
