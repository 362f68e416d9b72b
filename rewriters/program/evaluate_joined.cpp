// SPDX-License-Identifier: Apache-2.0
// Tensors that are joined along a dimension, and rows that are repeated.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

Value Kinds::evalConcat(const Expr* e, std::optional<int> dim, const Value& v) {
  const auto arguments = argumentsOf(e);
  const bool stacks = calleeName(e) == "stack";
  if (v.kind == Kind::Unknown) {
    const auto parts = dim == 0 && !stacks && !arguments.empty() ? extentsOf(arguments[0]) : std::nullopt;
    const auto grown = parts ? joinedToGrown(e, *parts) : std::nullopt;
    return grown ? *grown : v;
  }
  if (!dim) return Value::unknown(e, "the dimension is not a constant");
  if (*dim != 0 && stacks) {  // one dimension more
    Value rows = v;
    rows.flat = rows.thin = false;
    return *dim > 0 || *dim == -1 ? rows : Value::unknown(e, "which dimension it makes depends on how many the tensors have, which is not known here (count them from the front)");
  }
  if (*dim == -1 && v.flat) {
    const auto parts = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
    const bool columns = parts && !parts->empty() && llvm::all_of(*parts, [&](const Expr* x) { return ranks_.atLeast(x) >= 2; });
    if (!columns) return Value::unknown(e, "there may be one number for each sample, and the last dimension is then the one of the samples");
  }
  if (*dim != 0) return v;
  if (stacks && (v.joined || v.selected)) return Value::unknown(e, "tensors of samples are stacked: the samples run along the second dimension then");
  if (stacks) {
    const auto parts = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
    for (unsigned i = 0; parts && i < parts->size(); ++i)
      if (eval((*parts)[i]).kind != Kind::Sharded) return Value::unknown(e, "rows of this rank's samples are stacked with rows that all ranks have");
    Value steps = Value(Kind::Second).after(v, v);
    steps.deep = parts && !parts->empty() && ranks_.atLeast((*parts)[0]) >= 2;
    return steps;
  }
  const auto list = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
  if (!list) {  // as many as have been put there
    Value rows = v;
    rows.joined = v.kind == Kind::Sharded;
    rowsMeet_ = rowsMeet_ || (rows.joined && recording_ && batches_.inStep(e) > 0);
    return rows;
  }
  if (const auto grown = joinedToGrown(e, *list)) return *grown;
  for (const Expr* part : *list)
    if (const Value p = eval(part); p.kind != Kind::Sharded) return Value::unknown(e, "rows of this rank's samples are joined with rows that all ranks have");
    else if (p.earlier) return Value::unknown(e, "rows of this step's batch are joined with those of earlier ones, which had slices of their own");
  Value rows = v;
  rows.joined = list->size() > 1;
  rows.severalMasks = rows.severalMasks || (rows.joined && rows.selected);
  rowsMeet_ = rowsMeet_ || (rows.joined && recording_ && batches_.inStep(e) > 0);
  const bool whole = llvm::none_of(*list, [&](const Expr* x) { return eval(x).joined || eval(x).selected; });
  rows.pieces = rows.joined && whole ? static_cast<int>(list->size()) : 0;
  return rows;
}

// hstack, column_stack, vstack: along which dimension they join depends on how many the tensors have.
Value Kinds::evalJoined(const Expr* e, const Value& v) {
  const auto arguments = argumentsOf(e);
  if (v.kind == Kind::Unknown) return v;
  const auto list = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
  const bool columns = list && !list->empty() && llvm::all_of(*list, [&](const Expr* x) { return ranks_.atLeast(x) >= 2; });
  const llvm::StringRef name = calleeName(e);
  Value rows = v;
  rows.flat = rows.thin = false;
  if (name == "column_stack") return rows;
  if (!columns) return Value::unknown(e, "there may be one number for each sample, and it is not to be seen whether rows or columns are joined (take cat or stack, with a dimension)");
  return name == "hstack" ? rows : evalConcat(e, 0, v);
}

// Each row several times, one behind another: rows of this rank's samples, in their order.
Value Kinds::evalRepeated(const Expr* e, const Value& v) {
  const auto arguments = argumentsOf(e);
  const unsigned first = objectOf(e) ? 0 : 1;
  Value with(Kind::Uniform);
  for (unsigned i = first; i < arguments.size(); ++i)
    if (!isa<CXXDefaultArgExpr>(arguments[i])) with = join(with, eval(arguments[i]));
  if (v.kind != Kind::Sharded && !(v.isUniform() && with.isUniform())) return v.isUniform() ? Value::unknown(e, "how often rows are repeated depends on the samples at hand") : v;
  if (v.isUniform()) return v;
  const bool counted = arguments.size() > first && arguments[first]->getType()->isIntegerType() && with.isUniform() && with.kind != Kind::BatchSize;
  if (!counted || v.selected || v.joined) return Value::unknown(e, "rows are repeated, and how often is not the same for each sample");
  Value rows = v;
  const bool dimension = arguments.size() > first + 1 && !isa<CXXDefaultArgExpr>(arguments[first + 1]);
  if (!dimension) rows.flat = true, rows.thin = false;  // one number behind another, whatever shape they had
  return rows;
}

}  // namespace hvdize
