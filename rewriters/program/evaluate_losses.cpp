// SPDX-License-Identifier: Apache-2.0
// Kinds of what losses return.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Is -100, the number that these losses leave out by default, among what the numbers of classes are made from?
bool Kinds::marksIgnored(const Expr* target) const {
  llvm::DenseSet<const ValueDecl*> seen;
  bool marks = false;
  const auto look = [&](auto&& self, const Expr* e) -> void {
    forEachExpr(e, [&](const Expr* x) {
      const auto* minus = dyn_cast<UnaryOperator>(x);
      const auto* number = minus && minus->getOpcode() == UO_Minus ? dyn_cast<IntegerLiteral>(strip(minus->getSubExpr())) : nullptr;
      marks = marks || (number && number->getValue() == 100);
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      if (!d || !seen.insert(d).second) return;
      for (const Definition& def : definitions_.of(d))
        if (def.value) self(self, def.value);
      // y.masked_fill_(mask, -100), y[i] = -100
      for (const Expr* use : definitions_.uses(d))
        for (const Stmt* p = code_.parent(use); p && isa<Expr>(p); p = code_.parent(p))
          if (const auto* call = dyn_cast<CallExpr>(p); call && (calleeName(call).ends_with("_") || isa<CXXOperatorCallExpr>(call)))
            for (const Expr* a : argumentsOf(call)) self(self, a);
    });
  };
  look(look, target);
  return marks;
}

// The scores of a loss over sequences, time steps before samples: as rows, because each sample has a result of its own whatever dimension it is.
Value Kinds::scoresOfSequences(const Value& scores, const Expr* e) const {
  if (scores.kind == Kind::Sharded) return Value::unknown(e, "its scores have time steps first and then samples, and the samples are said to run along the first");
  if (scores.kind != Kind::Second) return scores;
  Value rows(Kind::Sharded);
  rows.graded = scores.graded, rows.earlier = scores.earlier, rows.coupled = scores.coupled;
  return rows;
}

// Is the object what a variant holds, as the parameter of a function that std::visit calls?
bool Kinds::isVisited(const Expr* object, unsigned depth) const {
  const auto* p = depth < 8 && object ? dyn_cast_or_null<ParmVarDecl>(declOf(strip(object))) : nullptr;
  const auto* f = p ? dyn_cast<FunctionDecl>(p->getDeclContext()) : nullptr;
  if (!f) return false;
  if (llvm::any_of(code_.callers(f), [](const CallSite& c) { return isVisit(c.call); })) return true;
  return llvm::any_of(definitions_.of(p), [&](const Definition& def) { return def.value && isVisited(def.value, depth + 1); });
}

// Does the program anywhere say how losses reduce, other than by a mean over all samples?
bool Kinds::saysReductions(const Entry& loss) const {
  bool says = false;
  for (const Root& r : code_.roots())
    forEachExpr(r.code, [&](const Expr* x) {
      const auto* named = dyn_cast<DeclRefExpr>(x);
      const Entry* constant = named ? dialect_.lookup(named->getDecl()) : nullptr;
      says = says || (constant && constant->role == Role::ReductionConstant && constant->value != "mean");
      says = says || (calleeOf(x) && llvm::is_contained(loss.countedOptions, calleeName(x).str()));
    });
  return says;
}

// full({1}, 0.9), tensor(1.): made with extents of one alone, it meets each row alike.
static bool isMadeOfOne(const Expr* made, const Dialect& dialect, const ASTContext& context) {
  const Entry* entry = calleeOf(made) ? dialect.lookup(made) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Factory) return false;
  const auto arguments = argumentsOf(made);
  if (entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return arguments.size() > 0 && arguments[0]->getType()->isArithmeticType();
  const auto extents = extentsOf(arguments[entry->shape]);
  return extents && llvm::all_of(*extents, [&](const Expr* x) {
    Expr::EvalResult r;
    return strip(x)->getType()->isIntegerType() && strip(x)->EvaluateAsInt(r, context) && r.Val.getInt() == 1;
  });
}

// One number, or a tensor with fewer dimensions than the rows have: each row meets all of it.
bool Kinds::meetsEachRow(const Expr* tensor, const Expr* rows) const {
  const int rank = ranks_.exactly(tensor);
  if (rank == 0 || (rank > 0 && rank < ranks_.atLeast(rows))) return true;
  const auto made = definitions_.origins(tensor);
  return !made.empty() && llvm::all_of(made, [&](const Expr* m) { return isMadeOfOne(strip(m), dialect_, code_.context()); });
}

Value Kinds::evalLoss(const Expr* e, const Entry& entry) {
  const auto arguments = argumentsOf(e);
  const bool sequences = entry.positions == "sequences";
  Value in;
  for (int i : {entry.input, entry.target}) {
    if (i < 0 || i >= static_cast<int>(arguments.size())) continue;
    const Value v = sequences && i == entry.input ? scoresOfSequences(eval(arguments[i]), e) : eval(arguments[i]);
    const auto behindEachOther = [](const Expr* x) { return calleeName(x) == "cat" || calleeName(x) == "concat"; };
    if (sequences && i == entry.target && (v.joined || v.kind == Kind::Second || llvm::any_of(definitions_.origins(arguments[i]), behindEachOther)))
      return Value::unknown(e, "its labels lie one behind another, as many as each sample has: they can be shared out as one padded row for each sample");
    const bool first = in.kind == Kind::None;
    // Rows on one side, and on the other a tensor that all ranks have alike: of what was cut elsewhere, another number of rows, or one that broadcasts.
    const auto whole = [](const Value& x) { return x.kind == Kind::Uniform; };
    if (recording_ && !first && batches_.problems().empty() && batches_.inStep(e) > 0 && isTensor(arguments[i]->getType()) && ((in.kind == Kind::Sharded && whole(v)) || (whole(in) && v.kind == Kind::Sharded)) &&
        !meetsEachRow(arguments[whole(v) ? entry.target : entry.input], arguments[whole(v) ? entry.input : entry.target]))
      problem(e, v, "one of its tensors has the rows of this rank, the other is the same on every rank (cut both in the step, in the same way)");
    in = elementwise(first ? Value(Kind::Uniform) : in, v, e);
  }
  // Further inputs: the negative samples of a triplet, weights for each row.
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (static_cast<int>(i) == entry.input || static_cast<int>(i) == entry.target || static_cast<int>(i) == entry.options || isEmptyArgument(arguments[i])) continue;
    const Value v = eval(arguments[i]);
    if (isTensor(arguments[i]->getType()) || v.dependsOnSamples()) in = elementwise(in, v, e);
    else if (sequences && !arguments[i]->getType()->isArithmeticType())
      return Value::unknown(e, "its lengths are a list of numbers, one for each sample of the whole batch: a tensor made of them can be shared out");
  }
  if (in.kind == Kind::Second && entry.positions != "numbers")
    return Value::unknown(e, "the samples run along the second dimension of its arguments, and it may take them for classes");
  if (in.kind != Kind::Sharded && in.kind != Kind::Second) return in;
  LossReduction reduction = entry.reduction;
  bool counted = false;
  const auto given = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()); };
  if (given(entry.reductionArg)) {
    Expr::EvalResult r;
    if (!arguments[entry.reductionArg]->EvaluateAsInt(r, code_.context())) return Value::unknown(e, "its reduction is not a constant");
    const int64_t value = r.Val.getInt().getExtValue();
    reduction = value == 0 ? LossReduction::None : value == 2 ? LossReduction::Sum : LossReduction::Mean;
  }
  for (int i : entry.countedArgs)
    if (given(i) && !isEmptyArgument(arguments[i])) counted = true;
  if (llvm::is_contained(entry.countedOptions, "ignore_index") && given(entry.target) && marksIgnored(arguments[entry.target])) counted = true;
  bool mixed = false;  // another reduction in some cases
  std::optional<LossReduction> made;
  const auto scan = [&](const Setting& setting, const Entry& about) {
    std::optional<LossReduction> told;
    const auto constantIn = [&](const Expr* x) {
      const auto* r = dyn_cast<DeclRefExpr>(x);
      const Entry* constant = r ? dialect_.lookup(r->getDecl()) : nullptr;
      if (!constant || constant->role != Role::ReductionConstant) return;
      const LossReduction value = constant->value == "sum" ? LossReduction::Sum : constant->value == "none" ? LossReduction::None : LossReduction::Mean;
      mixed = mixed || (told && *told != value);
      told = value;
    };
    forEachExpr(setting.tree, [&](const Expr* x) {
      constantIn(x);
      if (const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr)
        for (const Definition& def : definitions_.of(d))
          if (def.value && !dialect_.is(d->getType(), Role::Tensor)) forEachExpr(def.value, constantIn);
      const FunctionDecl* f = calleeOf(x);
      if (f && f->getDeclName().isIdentifier())
        for (const std::string& option : about.countedOptions) counted = counted || f->getName() == option;
    });
    if (setting.origin && given(entry.options) && !told) told = entry.reduction;  // options without one
    if (!told) return;
    if (setting.origin) mixed = mixed || (made && *made != *told), made = told;
    mixed = mixed || (!setting.certain && *told != reduction);
    reduction = *told;
  };
  Value option(Kind::Uniform);
  if (given(entry.options)) {
    option = eval(arguments[entry.options]);
    for (const Setting& o : definitions_.settings(arguments[entry.options])) scan(o, entry);
  }
  // A loss object carries its options from its construction. Of what a variant holds, which one it is is not known.
  if (const Expr* object = objectOf(e); object && entry.options < 0 && isVisited(object)) {
    if (saysReductions(entry)) return Value::unknown(e, "how it reduces is said where the alternatives of the variant are made, and which of them this is is not known here (call each loss by its name)");
  } else if (object && entry.options < 0)
    for (const Setting& o : definitions_.settings(object)) {
      if (!isa<DeclRefExpr, MemberExpr>(strip(o.tree))) option = join(option, eval(o.tree));
      scan(o, entry);
      for (const Expr* a : argumentsOf(o.tree))
        for (const Setting& inner : definitions_.settings(a)) scan(inner, entry);
    }
  if (mixed) return Value::unknown(e, "its reduction is a sum in some cases and a mean in others (write two calls)");
  // A weight for each row is one more input. Weights of classes that the samples at hand give are others on each rank.
  if (option.dependsOnSamples() && (counted || option.kind != Kind::Sharded))
    return Value::unknown(e, "an option of the loss is computed from the samples at hand, and is another one on each rank");
  if (option.dependsOnSamples()) in = elementwise(in, option, e);
  if (reduction == LossReduction::None) {
    // Of class numbers there is one result for each sample.
    in.flat = in.kind == Kind::Sharded && (in.flat || ((!entry.countedOptions.empty() || !entry.countedArgs.empty()) && ranks_.atLeast(arguments[entry.input]) < 3));
    return in;
  }
  if (in.selected && reduction != LossReduction::Sum && !counted) return reduced(in, e, arguments[given(entry.target) ? entry.target : entry.input]);
  Value v(reduction == LossReduction::Sum ? Kind::Sum : counted ? Kind::CountMean : Kind::Mean);
  v.graded = true;
  v.earlier = in.earlier;
  v.carried = in.carried;
  v.coupled = in.coupled;
  if (v.kind != Kind::CountMean) return v;
  v.count = v.formed = e;
  v.counts = Counts::Loss;
  return formedMean(v);
}

// `{}`, nullopt or an undefined tensor where an option is expected.
bool Kinds::isEmptyArgument(const Expr* e) const {
  e = strip(e);
  if (const auto* list = dyn_cast<InitListExpr>(e)) return list->getNumInits() == 0;
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) return argumentsOf(k).empty() || (k->getNumArgs() > 0 && isEmptyArgument(k->getArg(0)));
  const ValueDecl* d = declOf(e);
  return d && d->getDeclName().isIdentifier() && d->getName() == "nullopt";
}

}  // namespace hvdize
