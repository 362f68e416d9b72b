// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/kinds.h"

#include <algorithm>

namespace hvdize {

int powerOf(const Value& v) { return v.power + (v.kind == Kind::BatchSize ? 1 : 0); }

Value Value::unknown(const clang::Expr* where, const char* why) {
  Value v(Kind::Unknown);
  v.origin = where;
  v.why = why;
  return v;
}

Value Value::rankLocal(const clang::Expr* where, const char* why) {
  Value v(Kind::RankLocal);
  v.origin = where;
  v.why = why;
  return v;
}

Value Value::after(const Value& a, const Value& b) const {
  Value v = *this;
  v.carried = a.carried || b.carried;
  // The hidden state of a recurrent network meets this step's samples row by row.
  const auto present = [](const Value& x) { return x.dependsOnSamples() && !x.earlier; };
  v.earlier = (a.earlier || b.earlier) && !present(a) && !present(b);
  v.graded = graded || a.graded || b.graded;
  v.gradedDivisor = gradedDivisor || a.gradedDivisor || b.gradedDivisor;
  v.coupled = coupled || a.coupled || b.coupled;
  const bool uniform = !a.dependsOnSamples() && !b.dependsOnSamples() && a.kind != Kind::None && b.kind != Kind::None;
  v.power = uniform ? std::max(a.power, b.power) : (a.dependsOnSamples() || !b.dependsOnSamples()) && a.kind != Kind::None ? a.power : b.power;
  v.steps = v.isUniform() && (a.steps || b.steps);
  v.mixed = v.mixed || ((a.mixed || b.mixed) && (kind == Kind::Uniform || kind == Kind::Sum || kind == Kind::Mean));
  const auto flatOrNone = [](const Value& x) { return x.flat || !x.dependsOnSamples(); };
  v.flat = kind == Kind::Sharded && (a.flat || b.flat) && flatOrNone(a) && flatOrNone(b);
  const auto thinOrNone = [](const Value& x) { return x.flat || x.thin || !x.dependsOnSamples(); };
  v.thin = kind == Kind::Sharded && (v.flat ? a.thin || b.thin : (a.flat || b.flat || a.thin || b.thin) && thinOrNone(a) && thinOrNone(b));
  for (const Value* x : {&a, &b}) v.thin = v.thin || (kind == Kind::Mean && x->kind == Kind::Mean && x->thin);
  v.deep = kind == Kind::Second && (a.deep || b.deep);
  v.single = kind == Kind::Second && a.single && b.single;
  v.also = Also::Same;
  v.oneState = false;
  const auto itemOrNone = [](const Value& x) { return x.item || !x.dependsOnSamples(); };
  v.item = kind == Kind::Unknown && v.item && itemOrNone(a) && itemOrNone(b);
  v.selected = kind == Kind::Sharded && (v.selected || a.selected || b.selected);
  const auto seen = [](const Value& x) { return x.kind != Kind::None; };
  v.mask = !v.selected || !seen(a) || !seen(b) ? nullptr : a.selected ? a.mask : b.mask;  // rows that meet are as many, whichever mask has selected them
  const auto others = [](const Value& x) { return x.severalMasks || (x.kind == Kind::Sharded && !x.selected); };
  v.severalMasks = v.selected && (others(a) || others(b));
  v.joined = v.joined || ((a.joined || b.joined) && (kind == Kind::Sharded || kind == Kind::Rows || kind == Kind::Shape));
  if (v.joined && kind == Kind::Sharded && (a.joined || b.joined)) v.pieces = !a.joined || (b.joined && a.pieces != b.pieces) ? (a.joined ? 0 : b.pieces) : a.pieces;
  return v;
}

const char* kindName(Kind k) {
  switch (k) {
    case Kind::None: return "none";
    case Kind::Zero: return "zero";
    case Kind::Uniform: return "uniform";
    case Kind::Whole: return "reduced";
    case Kind::BatchSize: return "batch size";
    case Kind::Sharded: return "sharded";
    case Kind::Second: return "sharded along the second dimension";
    case Kind::Shape: return "shape";
    case Kind::Rows: return "rows";
    case Kind::Mean: return "mean";
    case Kind::Sum: return "sum";
    case Kind::Max: return "max";
    case Kind::Min: return "min";
    case Kind::CountMean: return "counted mean";
    case Kind::RankLocal: return "rank-local";
    case Kind::Unknown: return "unknown";
  }
  return "unknown";
}

namespace {

constexpr const char* kOtherAxis = "the samples run along the first dimension of one of these and along the second one of the other";
constexpr const char* kMixed = "values of different kinds meet here";

/// What settles an operation whichever the operator: nothing seen yet, and kinds that spread.
bool settled(const Value& a, const Value& b, const clang::Expr* where, Value& out) {
  if (a.kind == Kind::None) return out = b, true;
  if (b.kind == Kind::None) return out = a, true;
  if (a.kind == Kind::Unknown) return out = a.item && b.kind == Kind::Unknown ? b : a, true;
  if (b.kind == Kind::Unknown) return out = b, true;
  if (a.kind == Kind::RankLocal || b.kind == Kind::RankLocal) {
    const bool both = !a.dependsOnSamples() && !b.dependsOnSamples();
    out = both ? (a.kind == Kind::RankLocal ? a : b)
               : Value::unknown(where, "a value that differs between ranks meets one that depends on samples");
    return true;
  }
  const bool whole = a.kind == Kind::Whole || b.kind == Kind::Whole;
  if (a.isUniform() && b.isUniform()) return out = !whole ? Value(Kind::Uniform) : a.kind == Kind::Whole && (a.why || b.kind != Kind::Whole) ? a : b, true;
  if (whole) {
    out = Value::unknown(where, "a value of this rank's batch meets one of the whole batch");
    return true;
  }
  return false;
}

Value joinKinds(const Value& a, const Value& b) {
  if (a.kind == Kind::None) return b;
  if (b.kind == Kind::None) return a;
  if (a.kind == Kind::Unknown && b.kind == Kind::Unknown) return a.item ? b : a;
  if (a.kind == b.kind && a.count == b.count) return a;
  if (a.kind == b.kind && a.formed && a.formed == b.formed) return b;  // the same mean, of which more is known
  if (a.kind == Kind::Unknown) return a;
  if (b.kind == Kind::Unknown) return b;
  if (a.kind == Kind::Zero) return b;
  if (b.kind == Kind::Zero) return a;
  if (a.isUniform() && b.isUniform()) return a.kind == Kind::Whole || b.kind == Kind::Whole ? Kind::Whole : Kind::Uniform;
  // A helper called from a sharded loop and from one that all ranks do alike: what it calls at run time is the
  // identity in the second case, so the sharded kind is right for both.
  if (a.isUniform()) return b;
  if (b.isUniform()) return a;
  Value v = Value::unknown(a.origin ? a.origin : b.origin, kMixed);
  v.mixed = a.kind != Kind::RankLocal && b.kind != Kind::RankLocal;
  return v;
}

Value addKinds(const Value& a, const Value& b, const clang::Expr* where) {
  if (a.kind == Kind::Zero) return b;
  if (b.kind == Kind::Zero) return a;
  Value out;
  if (settled(a, b, where, out)) return out;
  if (a.kind == b.kind && a.count == b.count) return a;
  const Value& x = a.isUniform() ? b : a;
  if (a.isUniform() || b.isUniform()) {
    if (x.kind == Kind::Sum)
      return Value::unknown(where, "a term that does not depend on the samples is added to a sum over samples");
    if (x.kind == Kind::Rows) return Value::unknown(where, "a constant is added to a count of this rank's samples");
    return x;
  }
  if ((a.kind == Kind::Sharded && b.kind == Kind::Second) || (a.kind == Kind::Second && b.kind == Kind::Sharded))
    return Value::unknown(where, kOtherAxis);
  if (a.kind == Kind::Sharded || b.kind == Kind::Sharded || a.kind == Kind::Second || b.kind == Kind::Second)
    return Value::unknown(where, "a value of the whole batch is mixed with values of single samples");
  return Value::unknown(where, kMixed);
}

Value multiplyKinds(const Value& a, const Value& b, const clang::Expr* where) {
  Value out;
  if (settled(a, b, where, out)) return out;
  if (a.isUniform() || b.isUniform()) {
    const Value& x = a.isUniform() ? b : a;
    if (x.kind == Kind::Max || x.kind == Kind::Min)
      return Value::unknown(where, "an extremum is multiplied by a factor whose sign is not known");
    return x;
  }
  if (a.kind == b.kind && (a.kind == Kind::Sharded || a.kind == Kind::Second)) return a.kind;
  if ((a.kind == Kind::Mean && b.kind == Kind::Rows) || (a.kind == Kind::Rows && b.kind == Kind::Mean)) return Kind::Sum;
  return Value::unknown(where, "a product of two values that depend on the samples");
}

Value divideKinds(const Value& a, const Value& b, const clang::Expr* divisor, const clang::Expr* where) {
  Value out;
  if (settled(a, b, where, out)) return out;
  if (b.isUniform()) return a;
  if ((b.kind == Kind::Sharded || b.kind == Kind::Second) && (a.kind == b.kind || a.isUniform())) return b.kind;
  if (a.kind == Kind::Sum && b.kind == Kind::Rows) return Kind::Mean;
  if (a.kind == Kind::Rows && b.kind == Kind::Rows) return Kind::Uniform;
  if (a.kind == Kind::Sum && b.kind == Kind::Sum) {
    Value v(Kind::CountMean);
    v.count = divisor;
    v.formed = where;
    return v;
  }
  return Value::unknown(where, "a quotient of values that depend on the samples");
}

Value elementwiseKind(const Value& a, const clang::Expr* where) {
  if (a.isUniform()) return a.kind == Kind::None || a.kind == Kind::Whole ? a : Value(Kind::Uniform);
  if (a.kind == Kind::Sharded || a.kind == Kind::Second || a.kind == Kind::RankLocal || a.kind == Kind::Unknown) return a;
  return Value::unknown(where, "a function that is not linear is applied to a value of this rank's batch");
}

Value elementwiseKinds(const Value& a, const Value& b, const clang::Expr* where) {
  if (a.kind == Kind::Shape && b.kind == Kind::Shape) return Kind::Uniform;  // both of this rank's rows: equal or not on all ranks alike
  Value out;
  if (settled(a, b, where, out)) return out;
  const Kind rows = a.isUniform() ? b.kind : a.kind;
  const bool fits = (rows == Kind::Sharded || rows == Kind::Second) && (a.isUniform() || a.kind == rows) && (b.isUniform() || b.kind == rows);
  return fits ? Value(rows)
              : Value::unknown(where, "a comparison or function that is not linear combines values of this rank's batch");
}

// `step * batch_size`, `step / total_steps`: a count of steps, of which larger batches need fewer, takes a power away that the other has. `by`: that of
// the other, -1 where it is divided by.
void countSteps(Value& v, const Value& a, const Value& b, int by) {
  const bool cancels = (a.steps && by * powerOf(b) > 0) || (b.steps && powerOf(a) * by > 0);
  v.steps = (a.steps || b.steps) && !cancels;
  if (cancels) v.power -= a.steps ? 1 : by;
}

}  // namespace

Value join(const Value& a, const Value& b) {
  if (a.kind == Kind::Sharded && b.kind == Kind::Sharded && a.listed != b.listed) return Value::unknown(a.origin ? a.origin : b.origin, kMixed);
  Value v = joinKinds(a, b).after(a, b);
  const auto blank = [](const Value& x) { return x.kind == Kind::None || x.kind == Kind::Zero; };
  if (blank(a) != blank(b) && v.isUniform()) v.power = blank(a) ? b.power : a.power;  // n > 0 ? 1.0 / n : 0
  const auto either = [&](bool Value::*flag) {  // what all ranks have alike, zeros to begin with, fits
    return v.kind == Kind::Second && (a.*flag || !a.dependsOnSamples()) && (b.*flag || !b.dependsOnSamples());
  };
  // `loss /= batch_size`: a mean from there on. `averaged ? batch_size : 1`.
  v.mixed = v.mixed || ((v.kind == Kind::Sum || v.kind == Kind::Mean) && a.kind == b.kind && a.power != b.power);
  const auto number = [](const Value& x) { return x.kind == Kind::Uniform || x.kind == Kind::BatchSize; };
  v.mixed = v.mixed || (number(a) && number(b) && powerOf(a) != powerOf(b));
  if (v.kind == Kind::Unknown) v.mask = a.kind == Kind::None || a.mask == b.mask ? b.mask : b.kind == Kind::None ? a.mask : nullptr;
  if (v.selected) {
    v.mask = a.mask ? a.mask : b.mask;
    const bool otherwise = a.kind == b.kind && a.selected != b.selected;  // masked ? x.index({mask}) : x
    v.severalMasks = a.severalMasks || b.severalMasks || otherwise || (a.mask && b.mask && a.mask != b.mask);
  }
  v.single = either(&Value::single);
  v.deep = either(&Value::deep);
  const bool first = a.also != Also::Same;
  const auto list = [](const Value& x) { return x.listed || !x.dependsOnSamples(); };
  v.listed = v.kind == Kind::Sharded && (a.listed || b.listed) && list(a) && list(b);
  if (v.kind != Kind::Mean) v.thin = v.kind == Kind::Sharded && (v.flat ? a.thin || b.thin : a.flat || b.flat || a.thin || b.thin);
  v.also = first ? a.also : b.also;
  v.oneState = first ? a.oneState && (b.also == Also::Same || b.oneState) : b.oneState;
  return v;
}
// A number of the batch before and one of this one: their slices may differ. Row by row they meet only where both batches have as many.
static bool areOfTwoBatches(const Value& a, const Value& b) {
  const auto number = [](const Value& x) { return x.kind != Kind::Sharded && x.kind != Kind::Second; };
  return a.dependsOnSamples() && b.dependsOnSamples() && a.earlier != b.earlier && (number(a) || number(b));
}
// Rows of several tensors (or time steps), one behind another, and rows in the order of the batch: of this rank's slice others meet than of the batch.
static bool areInTwoOrders(const Value& a, const Value& b) {
  return a.kind == Kind::Sharded && b.kind == Kind::Sharded && a.joined != b.joined && !a.selected && !b.selected;
}
// What keeps two values from being combined; null for nothing.
static const char* apart(const Value& a, const Value& b) {
  if (areOfTwoBatches(a, b)) return "a value of an earlier batch, which had a slice of its own, goes with one of this batch";
  return areInTwoOrders(a, b) ? "rows of several tensors or time steps, one behind another, meet rows in the order of the batch" : nullptr;
}

Value addValues(const Value& a, const Value& b, const clang::Expr* where) {
  if (const char* why = apart(a, b)) return Value::unknown(where, why);
  Value v = addKinds(a, b, where).after(a, b);
  if (v.kind == Kind::Uniform && (a.kind == Kind::BatchSize || b.kind == Kind::BatchSize)) v.power = std::max(powerOf(a), powerOf(b));
  return v;
}
Value multiplyValues(const Value& a, const Value& b, const clang::Expr* where) {
  if (const char* why = apart(a, b)) return Value::unknown(where, why);
  Value v = multiplyKinds(a, b, where).after(a, b);
  v.power = powerOf(a) + powerOf(b);
  countSteps(v, a, b, 1);
  return v;
}
Value divideValues(const Value& a, const Value& b, const clang::Expr* divisor, const clang::Expr* where) {
  if (const char* why = apart(a, b)) return Value::unknown(where, why);
  Value v = divideKinds(a, b, divisor, where).after(a, b);
  v.power = powerOf(a) - powerOf(b);
  countSteps(v, a, b, -1);
  v.gradedDivisor = v.gradedDivisor || (v.kind == Kind::CountMean && b.graded);
  return v;
}
Value itemOf(const clang::Expr* where) {
  Value v = Value::unknown(where, "single samples of the batch are read");
  v.item = true;
  return v;
}
Value elementwise(const Value& a, const clang::Expr* where) { return elementwiseKind(a, where).after(a, a); }
Value elementwise(const Value& a, const Value& b, const clang::Expr* where) {
  if (const char* why = apart(a, b)) return Value::unknown(where, why);
  return elementwiseKinds(a, b, where).after(a, b);
}

}  // namespace hvdize
