// SPDX-License-Identifier: Apache-2.0
// Absolute learning rates are scaled where they enter; relative changes are left alone.
#include <map>

#include "rewriters/passes/rates_apart.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"
#include "rewriters/program/restored.h"
#include "rewriters/program/shared_meanings.h"
#include "rewriters/program/summed_losses.h"

using namespace clang;

namespace hvdize {

namespace {

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
  std::optional<llvm::DenseSet<const Expr*>> sums = std::nullopt;  // the optimizers of summed losses, where others follow means
};

// All constructions, those in other instantiations of a template among them.
std::vector<OptimizerSite> constructionsOf(const Model& m) {
  std::vector<OptimizerSite> all = m.optimizers;
  all.insert(all.end(), m.instances.begin(), m.instances.end());
  return all;
}

// May an optimizer, or options of it (`group.options()`), be named once more?
bool namesAgain(const Model& m, const Expr* e) {
  if (m.mayNameAgain(e)) return true;
  const Expr* of = objectOf(strip(e));
  const bool reads = of && calleeOf(strip(e)) && m.context.dialect.is(strip(e), Role::OptimizerState);
  return reads && llvm::all_of(argumentsOf(strip(e)), [&](const Expr* a) { return m.mayNameAgain(a); }) && namesAgain(m, of);
}

// The rule where only the running program knows the class of the optimizer: it is asked. Empty where it cannot be named.
std::string ruleAsked(const Model& m, const Expr* sink) {
  const Expr* object = objectOf(sink);
  if (!object)  // the constructor of a schedule, which is given the optimizer
    for (const Expr* a : argumentsOf(sink))
      if (!object && m.context.dialect.is(a->getType(), Role::Optimizer)) object = pointed(a);
  if (!object || isa<CXXThisExpr>(object) || !namesAgain(m, object)) return "";
  const CXXRecordDecl *own = object->getType().getNonReferenceType()->getAsCXXRecordDecl(), *held = m.context.dialect.recordOf(object->getType());
  const bool itself = own && held && own->getCanonicalDecl() == held->getCanonicalDecl();
  return std::string(", hvd::rule_of(") + (itself ? "" : "*") + m.text(object) + "))";
}

Rule ruleOf(Model& m) {
  bool sgd = false, adaptive = false, searching = false;
  const auto [sums, means, either] = lossGrowth(m);
  for (const OptimizerSite& o : constructionsOf(m)) (o.rule == OptimizerRule::Adaptive ? adaptive : o.rule == OptimizerRule::Closure ? searching : sgd) = true;
  if (either || (sums && means)) {
    if (m.context.options.lrScaling != LrScaling::Auto) return {"", ""};
    return {"", "", optimizersOfSums(m)};  // each has one, see withoutRule
  }
  if (sums || (searching && !sgd && !adaptive)) return {", hvd::LrRule::none)", "none"};
  if (adaptive && !sgd && !searching) return {", hvd::LrRule::sqrt)", "sqrt"};
  if (!adaptive && !searching) return {")", "linear"};
  return {"", ""};  // per site
}

// Is `options` the class of the options that optimizers of this construction are made with?
bool takesOptions(const Model& m, const OptimizerSite& o, const CXXRecordDecl* options) {
  const CXXRecordDecl* made = m.context.dialect.recordOf(o.construct->getType());
  if (!made || !made->hasDefinition()) return false;
  return llvm::any_of(made->ctors(), [&](const CXXConstructorDecl* c) {
    return llvm::any_of(c->parameters(), [&](const ParmVarDecl* p) {
      const CXXRecordDecl* r = p->getType().getNonReferenceType()->getAsCXXRecordDecl();
      return r && r->getCanonicalDecl() == options->getCanonicalDecl();
    });
  });
}

// The rule of the optimizer whose options or rate this is: by the object, else by the class that is named.
std::string suffixFor(const Model& m, const Expr* sink, const Rule& rule) {
  if (!rule.suffix.empty()) return rule.suffix;
  const auto of = [&](const OptimizerSite& o) {
    if (o.rule == OptimizerRule::Closure || (rule.sums && rule.sums->contains(o.construct))) return ", hvd::LrRule::none)";
    return o.rule == OptimizerRule::Adaptive ? ", hvd::LrRule::sqrt)" : ")";
  };
  const Expr* object = objectOf(sink);
  const std::vector<OptimizerSite> all = constructionsOf(m);
  for (const OptimizerSite& o : all) {
    bool in = false;
    forEachExpr(o.construct, [&](const Expr* x) { in = in || x == sink; });
    if (in) return of(o);
  }
  // Found by what it is made from, or by its class, it must be the same rule for all that it may be.
  std::string suffix;
  bool agree = true;
  const auto add = [&](const OptimizerSite& o) {
    agree = agree && (suffix.empty() || suffix == of(o));
    suffix = of(o);
  };
  const auto made = object ? m.definitions.origins(object) : std::vector<const Expr*>();
  for (const OptimizerSite& o : all)
    if (llvm::is_contained(made, o.construct)) add(o);
  const auto* method = m.madeInPlace(sink) ? nullptr : dyn_cast_or_null<CXXMethodDecl>(calleeOf(sink));
  const CXXRecordDecl* named = method ? method->getParent() : m.madeInPlace(sink);
  if (suffix.empty() && named)
    for (const OptimizerSite& o : all)
      if (takesOptions(m, o, named)) add(o);
  if (suffix.empty() && object)
    for (const OptimizerSite& o : all)
      if (m.text(object) == o.name) add(o);
  if (agree && !suffix.empty()) return suffix;
  return rule.sums ? "" : ruleAsked(m, sink);  // an optimizer does not know what losses it follows
}

// A rate among the arguments of a function that makes an optimizer, or options, from what the constructor takes: `make_unique<SGD>(parameters, 0.1)`.
const Expr* rateHandedOn(const Model& m, const Expr* e) {
  const CXXRecordDecl* made = m.madeInPlace(e);
  if (!made || !made->hasDefinition()) return nullptr;
  const auto arguments = argumentsOf(e);
  const auto number = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) && arguments[i]->getType()->isArithmeticType() ? arguments[i] : nullptr; };
  if (const Entry* entry = m.context.dialect.lookup(made); entry && entry->role == Role::Optimizer) return number(entry->options);
  for (const CXXConstructorDecl* c : made->ctors())
    if (const Entry* entry = m.context.dialect.lookup(c); entry && entry->role == Role::AbsoluteLr) return number(entry->arg);
  return nullptr;
}

// The numbers in a list that a function returns: {a, b}, vector(n, a), or what has been put into it.
llvm::SmallVector<const Expr*, 4> numbersIn(const Model& m, const Quantity& q, const Expr* list) {
  list = strip(list);
  if (const auto* made = dyn_cast<CXXStdInitializerListExpr>(list)) list = strip(made->getSubExpr());
  if (const auto* items = dyn_cast<InitListExpr>(list)) return {items->inits().begin(), items->inits().end()};
  llvm::SmallVector<const Expr*, 4> out;
  if (isa<CXXConstructExpr>(list)) {
    const auto arguments = argumentsOf(list);
    if (arguments.size() == 1 && isa<InitListExpr, CXXStdInitializerListExpr>(strip(arguments[0]))) return numbersIn(m, q, arguments[0]);
    if (arguments.size() > 1 && arguments[1]->getType()->isArithmeticType()) out.push_back(arguments[1]);
  } else if (const auto* v = dyn_cast_or_null<VarDecl>(declOf(list)); v && v->isLocalVarDecl()) {
    out = q.putInto(v);
    for (const Definition& def : m.definitions.of(v))
      if (def.value && !isa<DeclRefExpr>(strip(def.value))) out.append(numbersIn(m, q, def.value));
  }
  return out;
}

// The variable that holds the reference which `read` returns.
const VarDecl* heldBy(const Model& m, const Expr* read) {
  const Stmt* p = read;
  while (p && isa<Expr>(p) && !m.code.variableInitialisedBy(p)) p = m.code.parent(p);
  const VarDecl* v = p && isa<Expr>(p) ? m.code.variableInitialisedBy(p) : nullptr;
  return v && v->getType()->isReferenceType() && strip(v->getInit()) == strip(read) ? v : nullptr;
}

// options.number("--dropout") beside options.number("--rate"): the same function, asked for something else.
bool asksForAnother(const Expr* a, const Expr* b) {
  const auto nameIn = [](const Expr* e) -> const StringLiteral* {
    const StringLiteral* found = nullptr;
    forEachExpr(e, [&](const Expr* x) { found = found ? found : dyn_cast<StringLiteral>(x); });
    return found;
  };
  const auto one = argumentsOf(a), other = argumentsOf(b);
  for (unsigned i = 0; i < one.size() && i < other.size(); ++i) {
    const StringLiteral *x = nameIn(one[i]), *y = nameIn(other[i]);
    if (x && y && x->getBytes() != y->getBytes()) return true;
  }
  return false;
}

// A function of the author's whose result is scaled where it becomes a rate, and that is called elsewhere too, to show the rate, say: there its
// result is as the program computes it.
void noteOtherUses(Model& m, llvm::ArrayRef<const Expr*> scaled) {
  llvm::DenseSet<const FunctionDecl*> seen;
  for (const Expr* place : scaled) {
    const auto* call = dyn_cast<CallExpr>(strip(place));
    if (!call) continue;
    for (const FunctionDecl* f : m.code.targets(call)) {
      if (!seen.insert(f->getCanonicalDecl()).second) continue;
      for (const CallSite& c : m.code.callers(f)) {
        if (asksForAnother(c.call, call)) continue;
        const bool too = llvm::any_of(scaled, [&](const Expr* e) { return isWithin(m.code, c.call, e); });
        if (!too) m.context.diags.report(DiagID::RateElsewhere, c.call->getSourceRange(), m.text(c.call));
      }
    }
  }
}

std::string kindOf(const std::string& suffix) {
  return isAsked(suffix) ? "the rule of its class" : suffix == ")" ? "linear" : suffix.find("sqrt") != std::string::npos ? "square root" : "none";
}

// pow(last / first, 1.0 / steps), log(last / first): by how much a rate changes on its way to another one.
const BinaryOperator* ratioOfRates(const Expr* e) {
  const auto* call = dyn_cast<CallExpr>(e);
  const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
  if (!f || !isSystemDecl(f) || !f->getDeclName().isIdentifier() || call->getNumArgs() == 0) return nullptr;
  if (!llvm::is_contained({"pow", "powf", "log", "logf", "log2", "log10"}, f->getName())) return nullptr;
  const auto* ratio = dyn_cast<BinaryOperator>(strip(call->getArg(0)));
  return ratio && ratio->getOpcode() == BO_Div && ratio->getLHS()->getType()->isFloatingType() ? ratio : nullptr;
}

// `while (rate > 1e-4)`, `if (optimizer.lr() < 1e-4) break;`, `pow(1e-2 / rate, 1.0 / steps)`: the numbers that a scaled rate is compared with, or
// is to reach, and how they are scaled. Rates that are read where they are scaled have their bounds there.
std::vector<std::pair<const Expr*, std::string>> boundsOfRates(const Model& m, const Quantity& q, const Rule& rule, const llvm::DenseSet<const Expr*>& others) {
  std::vector<std::pair<const Expr*, std::string>> bounds;
  const auto suffixOf = [&](const Expr* e) -> std::string {
    if (others.count(e) || others.count(strip(e))) return "";
    if (q.places().count(e) || q.places().count(strip(e))) return q.label(q.places().count(e) ? e : strip(e));
    e = strip(e);
    if (calleeOf(e)) return m.context.dialect.is(e, Role::LrRead) ? suffixFor(m, e, rule) : "";
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    return v && v->isLocalVarDeclOrParm() && q.scaled().count(v) ? q.label(v) : "";
  };
  for (const Root& root : m.code.roots())
    forEachExpr(root.code, [&](const Expr* e) {
      if (const BinaryOperator* ratio = ratioOfRates(e))
        if (const std::string suffix = suffixOf(ratio->getRHS()); !suffix.empty() && suffixOf(ratio->getLHS()).empty() && !q.derived(ratio->getLHS()))
          bounds.emplace_back(ratio->getLHS(), suffix);
      const auto* b = dyn_cast<BinaryOperator>(e);
      if (!b || !b->isComparisonOp()) return;
      for (const auto& [rate, bound] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())}) {
        const std::string suffix = suffixOf(rate);
        if (suffix.empty() || !suffixOf(bound).empty() || q.derived(bound) || isLiteralZero(bound)) continue;
        bounds.emplace_back(bound, suffix);
      }
    });
  return bounds;
}

// `constexpr double kTenth = 0.1;` that is a rate and a momentum: of the reads of such a constant those that do not become a rate.
llvm::DenseSet<const Expr*> otherReads(const Model& m, const Quantity& q, llvm::ArrayRef<Sink> sinks) {
  llvm::DenseSet<const ValueDecl*> shared;
  const auto constantOf = [](const Expr* e) { return isa<DeclRefExpr, MemberExpr>(strip(e)) ? declOf(strip(e)) : nullptr; };
  for (const Expr* e : q.places())
    if (const ValueDecl* d = constantOf(e); d && isOtherOption(m, e)) shared.insert(d);
  const auto becomesRate = [&](const Expr* e, const ValueDecl* d) {
    if (isGivenToProgram(m, e) || llvm::any_of(sinks, [&](const Sink& sink) { return isWithin(m.code, e, sink.rate); })) return true;
    return llvm::any_of(q.scaled(), [&](const ValueDecl* other) {
      return other != d && llvm::any_of(m.definitions.of(other), [&](const Definition& def) { return def.value && isWithin(m.code, e, def.value); });
    });
  };
  llvm::DenseSet<const Expr*> out;
  for (const Expr* e : q.places())
    if (const ValueDecl* d = constantOf(e); d && shared.count(d) && !becomesRate(e, d)) out.insert(e);
  return out;
}

// `const float rate{1e-1};`: braces take a literal that fits, but nothing that is computed in a wider type. What is written around it, in front.
std::string narrowed(const Model& m, const Expr* e) {
  QualType to;
  e = strip(e);
  if (const auto* braced = dyn_cast<InitListExpr>(e); braced && braced->getNumInits() == 1) e = strip(braced->getInit(0));
  const Stmt* p = m.code.parent(e);
  for (; isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p); p = m.code.parent(p))
    if (isa<ImplicitCastExpr>(p)) to = cast<Expr>(p)->getType();
  const auto* made = dyn_cast_or_null<CXXConstructExpr>(p);
  const bool braces = isa_and_nonnull<InitListExpr>(p) || (made && made->isListInitialization());
  if (!braces || to.isNull() || !to->isSpecificBuiltinType(BuiltinType::Float) || e->getType()->isSpecificBuiltinType(BuiltinType::Float)) return "";
  return "static_cast<float>(";
}

// `SGDOptions(rate).weight_decay(rate)`: variables that are another option as well. They stay as they are, and are scaled where they become a rate.
llvm::DenseSet<const ValueDecl*> otherOptionsToo(const Model& m, const Quantity& q) {
  llvm::DenseSet<const ValueDecl*> out;
  for (const ValueDecl* d : q.scaled())
    if (isa<VarDecl>(d) && llvm::any_of(m.definitions.uses(d), [&](const Expr* use) { return isOtherOption(m, use) && !isGivenToProgram(m, use); })) out.insert(d);
  return out;
}

// Optimizers that are made without a rate, and get none later.
void noteDefaultRates(Model& m, const Rule& rule) {
  if (rule.name == "none" || m.context.options.lrScaling == LrScaling::None || m.context.options.batch == BatchPolicy::Global || m.unknownBatch) return;
  if (!m.sites.of(Role::LrWrite).empty()) return;
  const auto names = [&](const Expr* tree) {
    bool yes = false;
    forEachExpr(tree, [&](const Expr* x) {
      yes = yes || (calleeOf(x) && (m.context.dialect.is(x, Role::AbsoluteLr) || m.context.dialect.is(x, Role::LrRead))) || rateHandedOn(m, x) || x->getType()->isFloatingType();
    });
    return yes;
  };
  for (const OptimizerSite& o : m.optimizers) {
    bool given = false;
    for (const Expr* a : argumentsOf(o.construct)) {
      given = given || names(a);
      // groups.emplace_back(net->parameters(), std::make_unique<SGDOptions>(0.1));
      const auto* list = dyn_cast_or_null<VarDecl>(rootOf(calleeName(strip(a)) == "move" && !argumentsOf(strip(a)).empty() ? argumentsOf(strip(a))[0] : a));
      if (list && isStdRecord(list->getType().getNonReferenceType()))
        for (const Expr* use : m.definitions.uses(list)) {
          const Stmt* whole = use;
          for (const Stmt* p = m.code.parent(use); isa_and_nonnull<Expr>(p); p = m.code.parent(p)) whole = p;
          given = given || names(cast<Expr>(whole));
        }
      for (const Setting& s : m.definitions.settings(a)) given = given || names(s.tree);
    }
    for (const Setting& s : m.definitions.settings(o.construct)) given = given || names(s.tree);
    if (!given) m.context.diags.report(DiagID::DefaultRate, o.construct->getSourceRange(), o.name);
  }
}

std::vector<Sink> sinksOf(const Model& m, const Rule& rule) {
  std::vector<Sink> sinks;
  const Quantity lists(m.definitions, Quantity::Changes::Relative);
  const auto take = [&](const Expr* sink, const Expr* rate) {
    std::string suffix = suffixFor(m, sink, rule);
    if (isAsked(suffix) && m.context.options.lrScaling != LrScaling::Auto) suffix = ")";  // the policy's rule is that of all optimizers
    sinks.push_back({sink, rate, suffix});
  };
  for (Role role : {Role::AbsoluteLr, Role::LrWrite})
    for (const Site& s : m.sites.of(role)) {
      const auto arguments = argumentsOf(s.call);
      if (s.entry->arg >= 0 && s.entry->arg < static_cast<int>(arguments.size())) take(s.call, arguments[s.entry->arg]);
    }
  for (const Function& f : m.code.functions()) {
    const auto look = [&](const Expr* e) {
      if (const Expr* rate = rateHandedOn(m, e)) take(e, rate);
    };
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(f.decl))
      for (const CXXCtorInitializer* init : ctor->inits())
        if (init->isWritten()) forEachExpr(init->getInit(), look);
    forEachExpr(f.body, look);
    // A schedule of the program's own, derived from the framework's: the list of rates that it gives.
    const auto* method = dyn_cast<CXXMethodDecl>(f.decl);
    if (!method || llvm::none_of(method->overridden_methods(), [&](const CXXMethodDecl* o) {
          const Entry* entry = m.context.dialect.lookup(o);
          return entry && entry->role == Role::LrRead;
        })) continue;
    for (const Expr* r : m.definitions.returns(f.decl))
      for (const Expr* rate : numbersIn(m, lists, r)) take(r, rate);
  }
  // `options.lr() = x`, `options.lr() -= x`: the setter that returns a reference; a variable may hold that.
  for (const Site& s : m.sites.of(Role::LrRead)) {
    if (const VarDecl* v = heldBy(m, s.call))
      for (const Definition& def : m.definitions.of(v))
        if (def.value && strip(def.value) != s.call && (!def.compound || isAddend(m.code, def.value))) take(s.call, def.value);
    const auto* assign = dyn_cast_or_null<BinaryOperator>(m.code.parent(s.call));
    if (!assign || assign->getLHS()->IgnoreParenImpCasts() != s.call) continue;
    const auto op = assign->getOpcode();
    if (op == BO_Assign || op == BO_AddAssign || op == BO_SubAssign) take(s.call, assign->getRHS());
  }
  return sinks;
}

Quantity rates(const Model& m) {
  Quantity q(m.definitions, Quantity::Changes::Relative);
  q.know([&m](const Expr* e) { return readsRate(m, e); });
  const Restored restored = restoredFromFiles(m);
  q.restore([variables = restored.variables](const ValueDecl* d) { return variables.contains(d); }, [values = restored.values](const Expr* e) { return values.contains(strip(e)); });
  return q;
}

// What several instantiations of a template scale differently asks the optimizer.
void askWhereTextsAreShared(const Model& m, std::vector<Sink>& sinks) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  std::map<SourceLocation, std::string> suffixes;
  llvm::DenseSet<SourceLocation> several;
  const auto at = [&](const Sink& s) { return sm.getFileLoc(s.rate->getBeginLoc()); };
  for (const Sink& s : sinks)
    if (const auto [known, first] = suffixes.try_emplace(at(s), s.suffix); !first && known->second != s.suffix) several.insert(at(s));
  for (Sink& s : sinks)
    if (several.contains(at(s)))
      if (std::string asked = ruleAsked(m, s.call); !asked.empty()) s.suffix = std::move(asked);
}

// Is there a text that two instantiations of a template scale by different rules?
bool haveOneText(const Model& m, const Quantity& q) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  std::map<SourceLocation, std::string> labels;
  return llvm::any_of(q.places(), [&](const Expr* e) {
    const auto [at, first] = labels.try_emplace(sm.getFileLoc(e->getBeginLoc()), q.label(e));
    return !first && at->second != q.label(e);
  });
}

// `rate = best.rate`, where `best` is one of those that were made from the rate: round in a circle there is no place where a number enters, and each rate is scaled where an
// optimizer takes it.
bool leadsNowhere(const Model& m, const Quantity& q, llvm::ArrayRef<Sink> sinks) {
  if (!q.places().empty() || !q.mixed().empty() || !q.shared().empty() || !q.unclear().empty()) return false;
  bool numbers = false, known = false;
  llvm::DenseSet<const ValueDecl*> seen;
  const auto look = [&](auto&& self, const Expr* e) -> void {
    numbers = numbers || !isLiteralZero(e);
    known = known || readsRate(m, e);
    forEachExpr(e, [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      if (!d || isa<FunctionDecl>(d) || !seen.insert(d).second) return;
      for (const Definition& def : m.definitions.of(d))
        if (def.value) self(self, def.value);
    });
  };
  for (const Sink& s : sinks) look(look, s.rate);
  return numbers && !known;
}

// Is `e` made from one of these, also by way of variables?
bool madeFrom(const Model& m, const Expr* e, const std::vector<const Expr*>& places, llvm::DenseSet<const ValueDecl*>& seen) {
  bool found = false;
  forEachExpr(e, [&](const Expr* x) {
    found = found || llvm::is_contained(places, x);
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (found || !d || isa<FunctionDecl>(d) || !seen.insert(d).second) return;
    for (const Definition& def : m.definitions.of(d)) found = found || (def.value && !def.compound && madeFrom(m, def.value, places, seen));
  });
  return found;
}

}  // namespace

void scaleLearningRate(Model& m) {
  // Batches that are shared out as they are never grow: their rate is that of the sequential program.
  if (m.unknownBatch && m.context.options.lrScaling == LrScaling::Auto) {
    m.context.summary.globalOnly = true;
    return;
  }
  const Rule rule = ruleOf(m);
  m.context.summary.lrRule = rule.name;
  std::vector<Sink> sinks = sinksOf(m, rule);
  if (m.context.options.lrScaling == LrScaling::Auto && !rule.sums) askWhereTextsAreShared(m, sinks);
  const std::vector<bool> apart = sinksApart(m, sinks, [&] { return rates(m); });
  const auto traced = [&](llvm::DenseSet<const ValueDecl*> kept, bool atSinks = false) {
    Quantity q = rates(m);
    q.keep(std::move(kept));
    for (const bool stay : {false, true}) {
      if (stay) q.stay();
      for (unsigned i = 0; i < sinks.size(); ++i)
        if ((apart[i] || atSinks) == stay && !isLiteralZero(sinks[i].rate)) q.trace(sinks[i].rate, sinks[i].suffix);
    }
    q.settle();
    return q;
  };
  const llvm::DenseSet<const ValueDecl*> kept = otherOptionsToo(m, traced({}));
  const bool atSinks = leadsNowhere(m, traced(kept), sinks);
  const Quantity q = traced(kept, atSinks);
  for (const Expr* e : q.mixed()) m.context.diags.report(DiagID::RateMixed, e->getSourceRange(), m.text(e));
  if (m.context.options.lrScaling == LrScaling::Auto && haveOneText(m, q))
    m.context.diags.report(DiagID::UnresolvedOptimizer, m.optimizers.front().construct->getSourceRange(), "a template is instantiated for optimizers with different learning-rate rules and sets their rate (give it the rate as an argument)");
  if (m.context.options.lrScaling == LrScaling::Auto)
    for (const Expr* e : q.shared())
      m.context.diags.report(DiagID::UnresolvedOptimizer, e->getSourceRange(), "one rate for optimizers with different learning-rate rules (give each a variable of its own)");
  std::vector<const Expr*> scaled;
  const llvm::DenseSet<const Expr*> others = otherReads(m, q, sinks);
  llvm::DenseSet<const ValueDecl*> noted;
  for (const Expr* e : q.places()) {
    if (others.count(e)) {
      if (isOtherOption(m, e) && noted.insert(declOf(strip(e))).second) m.context.diags.report(DiagID::RateElsewhere, e->getSourceRange(), m.text(e));
      continue;
    }
    if ((calleeOf(strip(e)) && m.context.dialect.is(strip(e), Role::LrRead)) || isLiteralZero(e)) continue;
    if (isShareOfBase(m, q, e)) continue;
    if (growsWithBatch(m, e)) {
      m.context.diags.report(DiagID::RateFollowsBatch, e->getSourceRange(), m.text(e));
      continue;
    }
    const std::string suffix = q.label(e);
    if (suffix.empty()) {
      m.context.diags.report(DiagID::UnresolvedOptimizer, e->getSourceRange(), "the program has optimizers with different learning-rate rules");
      continue;
    }
    m.context.diags.report(DiagID::LearningRateScaled, e->getSourceRange(),
                           kindOf(suffix));
    const std::string fitting = narrowed(m, e);
    m.context.edits.wrap(e, fitting + "hvd::scaled_lr(", fitting.empty() ? suffix : suffix + ")", {DiagID::LearningRateScaled, "the rate for the global batch"});
    scaled.push_back(e);
  }
  for (const auto& [bound, suffix] : boundsOfRates(m, q, rule, others)) {
    m.context.diags.report(DiagID::LearningRateScaled, bound->getSourceRange(), kindOf(suffix));
    m.context.edits.wrap(bound, "hvd::scaled_lr(", suffix, {DiagID::LearningRateScaled, "a bound of the rate"});
  }
  for (const Sink& s : sinks)
    if (llvm::DenseSet<const ValueDecl*> seen; growsWithBatch(m, s.rate) && madeFrom(m, s.rate, scaled, seen)) m.context.diags.report(DiagID::RateScaledTwice, s.rate->getSourceRange(), m.text(s.rate));
  noteOtherUses(m, scaled);
  noteDefaultRates(m, rule);
}

}  // namespace hvdize
