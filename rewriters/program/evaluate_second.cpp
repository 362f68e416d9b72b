// SPDX-License-Identifier: Apache-2.0
// Tensors whose second dimension runs over the samples: time steps come first, or the layers of a recurrent state. What is not known to leave
// the samples alone is refused.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr const char* kUnknown = "the samples run along the second dimension of this tensor, and what is done here with its dimensions may mix them";
constexpr const char* kBehind = "a dimension that is counted from the end, or is not a constant, may be that of the samples";

std::optional<int> constant(const Expr* e, ASTContext& context) {
  Expr::EvalResult r;
  e = strip(e);
  if (e->isValueDependent() || !e->getType()->isIntegralOrEnumerationType() || !e->EvaluateAsInt(r, context)) return std::nullopt;
  return static_cast<int>(r.Val.getInt().getExtValue());
}

const Expr* tensorOf(const Expr* e) {
  if (const Expr* object = objectOf(e)) return object;
  const auto arguments = argumentsOf(e);
  return arguments.empty() ? nullptr : arguments[0];
}

Value sharded(const Value& v) {
  Value rows = v;
  rows.kind = Kind::Sharded;
  rows.deep = rows.single = false;
  return rows;
}

Value second(const Value& v, bool deep, bool single = false) {
  Value columns = v;
  columns.kind = Kind::Second;
  columns.flat = columns.thin = columns.joined = false;
  columns.pieces = 0;
  columns.deep = deep;
  columns.single = single;
  return columns;
}

}  // namespace

bool Kinds::isDeep(const Expr* tensor, const Value& v) const { return v.deep || (tensor && ranks_.atLeast(tensor) >= 3); }

// The dimension that an operation works along: 0, 1 (the samples), or 2 for any behind them. Nothing where that is not known.
std::optional<int> Kinds::besideOf(const Expr* e, const Entry& entry, const Value& v) const {
  const auto arguments = argumentsOf(e);
  if (entry.dim < 0 || entry.dim >= static_cast<int>(arguments.size())) return entry.defaultDim;
  const auto list = extentsOf(arguments[entry.dim]);
  const auto placed = [&](std::optional<int> d) -> std::optional<int> {
    if (d && *d >= 0) return std::min(*d, 2);
    return d && *d == -1 && isDeep(tensorOf(e), v) ? std::optional<int>(2) : std::nullopt;
  };
  if (!list || list->empty()) return placed(constant(arguments[entry.dim], code_.context()));
  std::optional<int> all = placed(constant(list->front(), code_.context()));
  for (const Expr* x : *list)
    if (placed(constant(x, code_.context())) != all) return std::nullopt;
  return list->size() > 1 && all != 2 ? std::nullopt : all;
}

// Operations that put the samples into the second dimension: x.unsqueeze(0), x.transpose(0, 1), x.permute({1, 0, 2}), x.view({1, n, -1}).
// Nothing for all others.
// x.size(0) of time steps that come before the samples, also by way of a variable.
bool Kinds::countsSteps(const Expr* x) {
  x = strip(x);
  if (const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr) {
    const auto& made = definitions_.of(d);
    return made.size() == 1 && made[0].value && countsSteps(made[0].value);
  }
  const auto arguments = argumentsOf(x);
  return calleeName(x) == "size" && objectOf(x) && arguments.size() == 1 && constant(arguments[0], code_.context()) == 0 && eval(objectOf(x)).kind == Kind::Second;
}

// steps * samples: all of the rows, behind one another.
bool Kinds::countsStepsOfAll(const Expr* extent) {
  const auto* product = dyn_cast<BinaryOperator>(strip(extent));
  if (!product || product->getOpcode() != BO_Mul) return false;
  const auto counts = [&](const Expr* steps, const Expr* samples) { return countsSteps(steps) && eval(samples).kind == Kind::Rows; };
  return counts(product->getLHS(), product->getRHS()) || counts(product->getRHS(), product->getLHS());
}

std::optional<Value> Kinds::toSecond(const Expr* e, const Entry& entry, const Value& v) {
  if (v.selected) return std::nullopt;
  if (v.joined) {  // taken apart again: view({steps, samples, -1})
    const auto list = entry.shape >= 0 && entry.shape < static_cast<int>(argumentsOf(e).size()) && entry.order == 0 ? extentsOf(argumentsOf(e)[entry.shape]) : std::nullopt;
    if (!list || list->size() < 2 || !countsSteps((*list)[0]) || eval((*list)[1]).kind != Kind::Rows) return std::nullopt;
    return second(v, list->size() >= 3);
  }
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const auto at = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) ? constant(arguments[i], code_.context()) : std::nullopt; };
  const int rank = ranks_.atLeast(tensorOf(e));
  if (entry.shape >= 0 && entry.shape < static_cast<int>(arguments.size()) && entry.order != 2) {
    const auto list = extentsOf(arguments[entry.shape]);
    if (!list || list->size() < 2 || name.starts_with("expand")) return std::nullopt;
    const auto first = constant((*list)[0], code_.context());
    if (entry.order == 1) {
      const auto next = constant((*list)[1], code_.context());
      return first && *first != 0 && next && *next == 0 ? std::optional(second(v, list->size() >= 3)) : std::nullopt;
    }
    const Value rows = eval((*list)[1]);
    // labels.view({1, -1}): one number for each sample, all of them in one row.
    if (first == 1 && list->size() == 2 && (v.flat || v.thin) && constant((*list)[1], code_.context()) == -1) return second(v, false, true);
    if (!first || *first != 1 || (rows.kind != Kind::Rows && rows.kind != Kind::BatchSize)) return std::nullopt;
    if (recording_ && rows.kind == Kind::BatchSize) localSizes_.insert((*list)[1]);
    return second(v, list->size() >= 3, true);
  }
  if (name.starts_with("unsqueeze") && at(entry.dim) == 0) return second(v, rank >= 2, true);
  const bool swaps = name.starts_with("transpose") || name.starts_with("swap") || name.starts_with("move");
  if (swaps && ((at(entry.dim) == 0 && at(entry.dim + 1) == 1) || (at(entry.dim) == 1 && at(entry.dim + 1) == 0))) return second(v, rank >= 3);
  if (name == "t" && !v.flat) return second(v, false);
  return std::nullopt;
}

Value Kinds::evalSecondMoved(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const auto at = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) ? constant(arguments[i], code_.context()) : std::nullopt; };
  for (const Expr* a : arguments) eval(a);
  if (entry.shape >= 0 && entry.shape < static_cast<int>(arguments.size())) {
    const auto list = extentsOf(arguments[entry.shape]);
    if (!list || list->empty() || entry.order == 2) return Value::unknown(e, kUnknown);
    const auto first = constant((*list)[0], code_.context());
    if (entry.order == 1) {
      if (list->size() < 2) return Value::unknown(e, kUnknown);
      if (first == 1) return sharded(v);
      return constant((*list)[1], code_.context()) == 1 ? second(v, list->size() >= 3) : Value::unknown(e, kUnknown);
    }
    if (name.starts_with("expand")) {  // expand({5, -1}): the same samples in every row
      const bool samples = list->size() >= 2 && (constant((*list)[1], code_.context()) == -1 || eval((*list)[1]).kind == Kind::Rows);
      return samples && !eval((*list)[0]).dependsOnSamples() ? second(v, list->size() >= 3, first == 1) : Value::unknown(e, kUnknown);
    }
    // As many rows as there are samples, of one layer or step; or all of them behind one another, when nothing says how many.
    const Value rows = eval((*list)[0]);
    const bool allRows = countsStepsOfAll((*list)[0]);
    if (!allRows && (rows.kind == Kind::Rows || rows.kind == Kind::BatchSize)) {
      if (!v.single) return Value::unknown(e, "the rows of several layers or time steps are folded into those of the samples");
      if (recording_ && rows.kind == Kind::BatchSize) localSizes_.insert((*list)[0]);
      return sharded(v);
    }
    if (first != -1 && !allRows) return Value::unknown(e, kUnknown);
    Value all = sharded(v);
    all.joined = !v.single;
    all.flat = list->size() == 1;
    return all;
  }
  if (name == "expand_as" && !arguments.empty()) {
    const Value like = eval(arguments.back());
    return like.kind == Kind::Second ? second(v, isDeep(arguments.back(), like), like.single) : Value::unknown(e, kUnknown);
  }
  const auto dim = besideOf(e, entry, v);
  if (name.starts_with("squeeze")) {
    if (dim == 2) return second(v, false, v.single);
    return dim == 0 && v.single && !arguments.empty() ? sharded(v) : Value::unknown(e, kUnknown);
  }
  if (name.starts_with("unsqueeze")) return dim == 2 ? second(v, true, v.single) : Value::unknown(e, kUnknown);
  if (name.starts_with("transpose") || name.starts_with("swap") || name.starts_with("move")) {
    const auto a = at(entry.dim), b = at(entry.dim + 1);
    if ((a == 0 && b == 1) || (a == 1 && b == 0)) return sharded(v);
    return a && b && *a >= 2 && *b >= 2 ? v : Value::unknown(e, kUnknown);
  }
  if (name == "t") return sharded(v);
  if (name != "flatten" || !dim) return Value::unknown(e, kUnknown);
  if (*dim == 2) return second(v, true, v.single);
  if (*dim != 0) return Value::unknown(e, kUnknown);
  Value all = sharded(v);
  all.joined = !v.single;
  return all;
}

// x[t], x.select(0, t), x.index({-1}), x.slice(0, a, b): steps or layers. Behind the samples: numbers of each.
Value Kinds::evalSecondPart(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  for (unsigned i = objectOf(e) ? 0 : 1; i < arguments.size(); ++i)
    if (const auto list = extentsOf(arguments[i]); !list)
      if (const Value with = eval(arguments[i]); with.dependsOnSamples() && with.kind != Kind::Rows) return Value::unknown(e, kUnknown);
  if (entry.index >= 0) {
    const auto list = entry.index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry.index]) : std::nullopt;
    if (!list || list->empty()) return Value::unknown(e, kUnknown);
    for (const Expr* i : *list)
      if (eval(i).dependsOnSamples()) return Value::unknown(e, kUnknown);
    if (list->size() > 1 && (!keepsFirstDimension((*list)[1]) || isa<StringLiteral>(strip((*list)[0])))) return Value::unknown(e, kUnknown);
    const Expr* first = strip((*list)[0]);
    for (const auto* k = dyn_cast<CXXConstructExpr>(first); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(first)) first = strip(argumentsOf(k)[0]);
    if (first->getType()->isIntegralOrEnumerationType() && !first->getType()->isBooleanType()) return sharded(v);
    // index({Slice(None, -1), Slice()}): some of the steps.
    const auto* range = dyn_cast<CXXConstructExpr>(first);
    const bool some = range && argumentsOf(range).size() > 1 && dialect_.owns(range->getConstructor());
    return (some || keepsFirstDimension((*list)[0])) && !isa<StringLiteral>(first) ? second(v, false, v.single && !some) : Value::unknown(e, kUnknown);
  }
  if (isa<CXXOperatorCallExpr>(e)) {
    const Expr* index = arguments.empty() ? nullptr : strip(arguments[0]);
    return index && index->getType()->isIntegralOrEnumerationType() ? sharded(v) : Value::unknown(e, kUnknown);
  }
  const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
  const auto dim = dimGiven ? besideOf(e, entry, v) : entry.defaultDim.value_or(0);
  if (!dim) return Value::unknown(e, kBehind);
  const bool takesAway = name == "select" || name == "unbind";
  const bool range = name == "slice" || name == "narrow" || name == "index_select" || name == "chunk" || name == "split";
  if (*dim == 1 || (!takesAway && !range)) return Value::unknown(e, kUnknown);
  if (takesAway) return *dim == 0 ? sharded(v) : second(v, false, v.single);
  return *dim == 0 ? second(v, v.deep) : v;
}

Value Kinds::evalSecondReduction(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
  if (dimGiven) {
    const auto dim = besideOf(e, entry, v);
    if (!dim) return Value::unknown(e, kBehind);
    if (*dim == 1) return Value::unknown(e, kUnknown);
    if (*dim == 2) return second(v, false, v.single);
    // With the dimension kept there is one step left.
    const bool keeps = static_cast<int>(arguments.size()) > entry.dim + 1;
    return keeps ? Value::unknown(e, kUnknown) : sharded(v);
  }
  switch (entry.op) {
    case OpKind::ReduceSum: return Value(Kind::Sum).after(v, v);
    case OpKind::ReduceMean: return Value(Kind::Mean).after(v, v);
    case OpKind::ReduceMax: return Value(Kind::Max).after(v, v);
    case OpKind::ReduceMin: return Value(Kind::Min).after(v, v);
    default: return Value::unknown(e, "what it computes over the samples does not combine over ranks");
  }
}

Value Kinds::evalSecond(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  switch (entry.op) {
    case OpKind::Elementwise: return evalArithmetic(e, entry, objectOf(e) ? v : Value());
    case OpKind::Assign: return evalAssignment(e, entry, objectOf(e) ? v : Value());
    case OpKind::Reshape: return evalSecondMoved(e, entry, v);
    case OpKind::Select: return evalSecondPart(e, entry, v);
    case OpKind::ReduceSum:
    case OpKind::ReduceMean:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceOther: return evalSecondReduction(e, entry, v);
    case OpKind::Rowwise: {
      const bool takesAway = name == "argmax" || name == "argmin";
      if (name == "one_hot" && arguments.size() >= (objectOf(e) ? 1u : 2u)) return second(v, true, v.single);
      if (name == "embedding") return second(v, true, v.single);
      if (name == "linear") return isDeep(tensorOf(e), v) ? second(v, true, v.single) : Value::unknown(e, kUnknown);
      const auto told = optionOf(e, entry);
      const auto placed = [&](std::optional<int> d) { return d && *d == -1 && isDeep(tensorOf(e), v) ? std::optional<int>(2) : d && *d >= 0 ? d : std::nullopt; };
      const bool given = told || (entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size()));
      const auto dim = told ? placed(*told) : besideOf(e, entry, v);
      if (!given || !dim || *dim == 1) return Value::unknown(e, kUnknown);
      if (takesAway) return *dim == 0 ? sharded(v) : second(v, false, v.single);
      return v;
    }
    case OpKind::Concat: {
      const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
      const auto dim = dimGiven ? besideOf(e, entry, v) : entry.defaultDim;
      const auto list = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
      for (unsigned i = 0; list && i < list->size(); ++i)
        if (eval((*list)[i]).kind != Kind::Second && eval((*list)[i]).kind != Kind::Zero) return Value::unknown(e, kUnknown);
      const bool stacks = name.contains("stack");
      if (!dim || *dim == 1 || (stacks && *dim == 0)) return Value::unknown(e, kUnknown);
      return second(v, v.deep || stacks, *dim == 2 && v.single);
    }
    case OpKind::Matmul: {
      const Expr* other = objectOf(e) ? (arguments.empty() ? nullptr : arguments[0]) : arguments.size() > 1 ? arguments[1] : nullptr;
      if (const auto sum = other ? sumByProduct(e, tensorOf(e), v, other) : std::nullopt) return *sum;
      if (!other || eval(other).dependsOnSamples() || !isDeep(tensorOf(e), v)) return Value::unknown(e, kUnknown);
      Value product = second(v, true, v.single);
      product.graded = true;  // the other factor may be a parameter
      return product;
    }
    case OpKind::Size: {
      const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
      const auto dim = dimGiven ? besideOf(e, entry, v) : std::nullopt;
      if (!dim) return Value::unknown(e, kBehind);
      return *dim == 1 ? Value(Kind::Rows).after(v, v) : Value(Kind::Uniform);
    }
    case OpKind::ElementCount: return Value(Kind::Rows).after(v, v);
    case OpKind::Factory: return Value(Kind::Second).after(v, v);  // zeros_like(state)
    case OpKind::ShapeOnly:
    case OpKind::None: return Kind::Uniform;
    case OpKind::Print:
      for (const Expr* a : arguments) cross(a, eval(a), "printed");
      return Kind::Uniform;
    default: return Value::unknown(e, kUnknown);
  }
}

}  // namespace hvdize
