// SPDX-License-Identifier: Apache-2.0
// Parts of results that hold several: pairs, tuples, an extremum with its place.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// `{loss, hits}`, std::make_pair(loss, hits), std::pair<...>(loss, hits): the parts. Nothing for other expressions.
std::optional<llvm::SmallVector<const Expr*, 4>> partsOf(const Expr* e) {
  e = strip(e);
  if (const auto* list = dyn_cast<InitListExpr>(e)) return llvm::SmallVector<const Expr*, 4>(list->inits().begin(), list->inits().end());
  const FunctionDecl* f = calleeOf(e);
  if (!f || !isStdRecord(e->getType())) return std::nullopt;
  const auto arguments = argumentsOf(e);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    if (arguments.size() == 1) return partsOf(arguments[0]);  // a copy, a conversion
    const CXXRecordDecl* r = k->getType()->getAsCXXRecordDecl();
    if (arguments.size() < 2 || !r || (r->getName() != "pair" && r->getName() != "tuple")) return std::nullopt;
    return llvm::SmallVector<const Expr*, 4>(arguments.begin(), arguments.end());
  }
  const bool makes = isSystemDecl(f) && f->getDeclName().isIdentifier() && (f->getName() == "make_pair" || f->getName() == "make_tuple");
  if (!makes) return std::nullopt;
  return llvm::SmallVector<const Expr*, 4>(arguments.begin(), arguments.end());
}

}  // namespace

// The i-th of several results: what every `return` of the function that made them gives for it. Behind the extremum over the samples comes its
// place.
Value Kinds::partOf(const Expr* all, unsigned i, const Expr* where) {
  const Value whole = eval(all);
  if (whole.also != Also::Same) {
    Value part = whole;
    if (i > 0) part.kind = whole.also == Also::States ? Kind::Second : Kind::Sharded;
    part.deep = part.kind == Kind::Second;
    if (i > 0) part.single = part.deep && whole.oneState;
    part.also = Also::Same;
    part.oneState = false;
    return part;
  }
  if (i > 0 && (whole.kind == Kind::Max || whole.kind == Kind::Min)) return Value::unknown(where, "it is the place of an extremum among this rank's samples");
  if (whole.isUniform()) return whole;  // the call's own place and arguments have decided it
  const Expr* made = strip(all);
  if (const auto* v = isa<DeclRefExpr>(made) ? dyn_cast_or_null<VarDecl>(declOf(made)) : nullptr) {
    const auto given = definitions_.of(v);
    if (given.size() == 1 && given[0].value && !given[0].compound && !given[0].through && !isa<ParmVarDecl>(v)) made = strip(given[0].value);
  }
  llvm::SmallVector<const Expr*, 4> values;
  for (const FunctionDecl* f : code_.targets(made))
    for (const Expr* r : definitions_.returns(f)) values.push_back(r);
  if (values.empty() || isa<CXXConstructExpr>(made)) return whole;
  Value part;
  for (const Expr* r : values) {
    const auto parts = partsOf(r);
    if (!parts || i >= parts->size()) return whole;
    const Value v = eval((*parts)[i]);
    meet(part, v);
    part = join(part, v);
  }
  return part.kind == Kind::None ? whole : part;
}

// `std::tie(out, std::tie(h, c)) = ...`: each variable gets its part.
void Kinds::assignTied(const Expr* target, const Expr* value, std::optional<Value> whole) {
  const auto* tie = dyn_cast<CallExpr>(strip(target));
  if (!tie || isa<CXXOperatorCallExpr>(tie)) return whole ? assign(target, *whole) : void();
  for (unsigned i = 0; i < tie->getNumArgs(); ++i) assignTied(tie->getArg(i), value, whole ? *whole : partOf(value, i, tie));
}

}  // namespace hvdize
