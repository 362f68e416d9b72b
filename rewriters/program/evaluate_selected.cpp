// SPDX-License-Identifier: Apache-2.0
// What is computed from the samples that a mask has selected. How many there are is another number on each rank, in no relation to the rows.
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/selected.h"

using namespace clang;

namespace hvdize {

namespace {

enum class Holds { Unknown, Truths, Numbers };

bool names(const Expr* type, std::initializer_list<llvm::StringRef> any) {
  const ValueDecl* d = declOf(strip(type));
  return d && d->getDeclName().isIdentifier() && llvm::is_contained(any, d->getName());
}

// Does the tensor surely hold truth values, or whole numbers? The sum of a mask is how often it holds; positions are of other samples on each rank.
bool surely(Holds what, const Definitions& definitions, const Expr* tensor, unsigned depth = 0) {
  const auto origins = depth > 6 ? decltype(definitions.origins(tensor))() : definitions.origins(tensor);
  return !origins.empty() && llvm::all_of(origins, [&](const Expr* origin) {
    const Expr* e = strip(origin);
    const auto also = [&](const Expr* x) { return surely(what, definitions, x, depth + 1); };
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() != OO_Subscript) {
      const OverloadedOperatorKind kind = o->getOperator();
      const bool logical = kind == OO_Amp || kind == OO_Pipe || kind == OO_Caret || kind == OO_Tilde;
      return what == Holds::Truths && (o->isComparisonOp() || (logical && llvm::all_of(o->arguments(), also)));
    }
    const auto arguments = argumentsOf(e);
    const Expr* first = objectOf(e) ? objectOf(e) : arguments.empty() ? nullptr : arguments[0];
    if (!first || strip(first) == e) return false;
    const Holds made = llvm::StringSwitch<Holds>(calleeName(e))
                           .Cases("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", Holds::Truths)
                           .Cases("not_equal", "greater", "greater_equal", "less", "less_equal", "isclose", Holds::Truths)
                           .Cases("logical_and", "logical_or", "logical_not", "logical_xor", Holds::Truths)
                           .Cases("argmax", "argmin", "argsort", "randint", "randperm", Holds::Numbers)
                           .Default(Holds::Unknown);
    if (made != Holds::Unknown) return made == what;
    if (calleeName(e) == "to" || calleeName(e) == "toType")
      return llvm::any_of(arguments, [&](const Expr* a) { return what == Holds::Truths ? names(a, {"kBool"}) : names(a, {"kLong", "kInt64", "kInt", "kInt32"}); });
    const bool same = llvm::StringSwitch<bool>(calleeName(e))
                          .Cases("index_select", "index", "slice", "narrow", "select", "clone", "contiguous", "detach", "cpu", true)
                          .Cases("squeeze", "unsqueeze", "view", "reshape", "flatten", "expand", "expand_as", "bitwise_not", "abs", true)
                          .Default(isa<CXXOperatorCallExpr>(e));  // a subscript
    return same && also(first);
  });
}

}  // namespace

// `mask.nonzero()`, of a mask with a truth value for each sample: where it holds among this rank's rows. They mean nothing on another rank.
Value positionsIn(const Expr* mask, const Expr* where) {
  Value at = Value::unknown(where, "positions among this rank's samples");
  at.mask = mask;
  return at;
}

// Positions in a column, made one behind another.
Value reshapedPositions(const Expr* e, const Value& v) {
  if (v.kind != Kind::Unknown || !v.mask) return v;
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const bool given = !arguments.empty() && !isa<CXXDefaultArgExpr>(arguments[0]);  // without a dimension one position would become a number
  Value at = v;
  if (!(name == "squeeze" && given) && name != "view" && name != "reshape" && name != "flatten") at.mask = nullptr;
  return at;
}

bool selects(const AuthorCode& code, const FunctionDecl* f, llvm::function_ref<bool(const ValueDecl*)> isSelected, unsigned depth) {
  const Function* known = code.find(f);
  if (!known || depth > 6) return true;
  bool any = false;
  forEachExpr(known->body, [&](const Expr* x) {
    const llvm::StringRef name = calleeName(x);
    const auto* o = dyn_cast<CXXOperatorCallExpr>(x);
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    const bool own = v && (isa<ParmVarDecl>(v) || v->isLocalVarDecl()) && v->getParentFunctionOrMethod() == static_cast<const DeclContext*>(known->decl);  // as the arguments are
    any = any || (d && !own && isSelected(d));
    any = any || name == "index" || name == "masked_select" || name == "nonzero" || (o && o->getOperator() == OO_Subscript && !o->getArg(1)->getType()->isIntegerType());
    for (const FunctionDecl* inner : code.targets(x)) any = any || selects(code, inner, isSelected, depth + 1);
  });
  return any;
}

// The samples that a mask, or positions among this rank's samples, select. positionsOnly: a mask does not, here.
std::optional<Value> Kinds::selectedBy(const Expr* index, const Value& v, bool positionsOnly) {
  const Value by = eval(index);
  const bool positions = by.kind == Kind::Unknown && by.mask && !v.joined;
  if (positions && v.kind == Kind::None && !settled_) return Value();
  if (v.kind != Kind::Sharded) return std::nullopt;
  if (!positions && (positionsOnly || by.kind != Kind::Sharded)) return std::nullopt;
  if (!positions && surely(Holds::Numbers, definitions_, index)) return Value::unknown(index, "single samples of the batch are read");
  Value some = v;
  some.selected = some.joined = true;
  some.mask = positions ? by.mask : index;
  some.severalMasks = false;
  return some;
}

// A mean, or an extent, of rows that a mask has selected. `of`: the tensor whose mean it is; null for an extent.
Value Kinds::reduced(const Value& v, const Expr* e, const Expr* of) {
  if (!v.selected) return v;
  if (of && !v.mask && !v.severalMasks && !settled_) return Value();
  if (!of || !v.mask) return Value::unknown(e, "a mask selects samples, another number on each rank: divide a sum over them by their number");
  Value mean = Value(Kind::CountMean).after(v, v);
  const bool near = !v.severalMasks && code_.functionOf(v.mask) == code_.functionOf(e);
  const bool asks = near && !isa<DeclRefExpr>(strip(of)) && surely(Holds::Truths, definitions_, v.mask);
  mean.counts = asks ? Counts::Mask : Counts::Elements;
  mean.count = asks ? v.mask : of;
  mean.formed = e;
  return formedMean(mean);
}

}  // namespace hvdize
