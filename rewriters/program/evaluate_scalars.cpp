// SPDX-License-Identifier: Apache-2.0
// Plain numbers that all ranks have alike, and how they follow the size of the batch: a sum over samples that is divided by one of them is a mean where
// the number grows as the batch does.
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr int kMostPower = 4;  // of what a loop multiplies again and again

bool isLiteral(const Expr* e) {
  e = strip(e);
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && (u->getOpcode() == UO_Minus || u->getOpcode() == UO_Plus)) e = strip(u->getSubExpr());
  return isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, CXXBoolLiteralExpr>(e);
}

// What the exponent is, where it is a whole number.
std::optional<int> exponentOf(const Expr* e, const ASTContext& context) {
  Expr::EvalResult r;
  if (e->isValueDependent() || !strip(e)->EvaluateAsRValue(r, context)) return std::nullopt;
  if (r.Val.isInt() && r.Val.getInt().isSignedIntN(8)) return static_cast<int>(r.Val.getInt().getExtValue());
  if (!r.Val.isFloat()) return std::nullopt;
  const double value = r.Val.getFloat().convertToDouble();
  return value == static_cast<int>(value) && value > -kMostPower && value < kMostPower ? std::optional(static_cast<int>(value)) : std::nullopt;
}

}  // namespace

// Functions whose result follows the batch as their argument does, at least nearly.
bool keepsPower(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("min", "max", "fmin", "fmax", "abs", "fabs", "clamp", true)
      .Cases("floor", "ceil", "round", "trunc", "lround", "llround", "rint", "nearbyint", true)
      .Cases("to_string", "stoi", "stol", "stoul", "stoll", "stoull", "stod", "stof", true)
      .Cases("atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", true)
      .Default(false);
}

// Powers that were found while not everything had its kind yet, `sum / total` before `total` was known to be a count, hold no longer: found anew from what
// is known in the end.
void Kinds::refinePowers(llvm::function_ref<void()> pass) {
  constexpr int kMostPasses = 8;
  const auto refine = [](Value& old, const Value& fresh) {
    if (old.kind != fresh.kind || (old.power == fresh.power && old.mixed == fresh.mixed && old.steps == fresh.steps)) return false;
    old.power = fresh.power, old.mixed = fresh.mixed, old.steps = fresh.steps;
    return true;
  };
  for (int i = 0; i < kMostPasses; ++i) {
    refining_ = true;
    freshDecls_.clear(), freshReturns_.clear();
    pass();
    refining_ = false;
    bool changed = false;
    for (auto& [d, v] : decls_)
      if (const auto fresh = freshDecls_.find(d); fresh != freshDecls_.end()) changed = refine(v, fresh->second) || changed;
    for (auto& [f, v] : returns_)
      if (const auto fresh = freshReturns_.find(f); fresh != freshReturns_.end()) changed = refine(v, fresh->second) || changed;
    alikeHere_.clear();
    if (!changed || again_) return;
  }
}

// `(samples + size - 1) / size`, in whole numbers: the samples, for they are divided by the size, rounded up; null for anything else.
const Expr* Kinds::roundedUp(const Expr* dividend) {
  if (!dividend->getType()->isIntegerType()) return nullptr;
  llvm::SmallVector<std::pair<const Expr*, bool>, 4> terms;  // and whether they are added
  const auto collect = [&](auto&& self, const Expr* e, bool added) -> void {
    e = strip(e);
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || !b->isAdditiveOp()) return terms.emplace_back(e, added), void();
    self(self, b->getLHS(), added);
    self(self, b->getRHS(), b->getOpcode() == BO_Add ? added : !added);
  };
  collect(collect, dividend, true);
  const Expr* samples = nullptr;
  bool size = false, one = false;
  for (const auto& [e, added] : terms) {
    const auto* literal = dyn_cast<IntegerLiteral>(e);
    if (added && !size && powerOf(of(e)) == 1) size = true;
    else if (!added && literal && literal->getValue() == 1 && !one) one = true;
    else if (added && !samples) samples = e;
    else return nullptr;
  }
  return size && one ? samples : nullptr;
}

// Is it a number next to which what is counted does not matter, `count + 1`?
static bool isSmall(const Expr* e, const ASTContext& context) {
  Expr::EvalResult r;
  if (!isLiteral(e) || !strip(e)->EvaluateAsRValue(r, context)) return true;
  if (r.Val.isInt()) return r.Val.getInt().isSignedIntN(8) && std::abs(r.Val.getInt().getExtValue()) <= 1;
  return !r.Val.isFloat() || std::abs(r.Val.getFloat().convertToDouble()) <= 1;
}

// x op y, of numbers that all ranks have alike.
Value Kinds::ofNumbers(BinaryOperatorKind op, const Value& x, const Value& y, const Expr* l, const Expr* r, const Expr* where) {
  const bool arithmetic = BinaryOperator::isMultiplicativeOp(op) || BinaryOperator::isAdditiveOp(op) || BinaryOperator::isShiftOp(op) || BinaryOperator::isBitwiseOp(op);
  Value v(Kind::Uniform);
  if (!arithmetic) return v;
  if ((x.kind == Kind::None || y.kind == Kind::None) && (!settled_ || !open_.empty())) return {};  // not looked at yet
  const int px = powerOf(x), py = powerOf(y);
  v.mixed = x.mixed || y.mixed;
  switch (op) {
    case BO_Mul:
    case BO_Div: {
      if (const Expr* samples = op == BO_Div && py == 1 ? roundedUp(l) : nullptr) {
        const Value all = of(samples);
        v.power = std::clamp(powerOf(all) - py, -kMostPower, kMostPower);
        v.mixed = all.mixed || y.mixed;
        break;
      }
      const Value product = op == BO_Mul ? multiplyValues(x, y, where) : divideValues(x, y, r, where);
      v.power = std::clamp(product.power, -kMostPower, kMostPower);
      v.steps = product.steps;
      break;
    }
    case BO_Add:
    case BO_Sub:
      v.steps = x.steps || y.steps;  // epoch * steps_per_epoch + step
      if (v.steps) break;
      v.power = std::max(px, py);
      // count + 1e-9; but 1 - 1.0 / count is no power.
      if (isLiteral(r) || isLiteral(l) || x.kind == Kind::Zero || y.kind == Kind::Zero) {
        const bool none = x.kind == Kind::Zero || y.kind == Kind::Zero;
        const int power = isLiteral(r) || y.kind == Kind::Zero ? px : py;
        v.power = power;
        v.mixed = v.mixed || (power < 0 && !none) || (power != 0 && !(isSmall(l, code_.context()) && isSmall(r, code_.context())));
      } else {
        if (px != py) v.power = 0, v.mixed = true;  // at + batch_size
      }
      break;
    case BO_Shl:
    case BO_Shr: v.power = px; break;
    default: v.mixed = v.mixed || px != 0 || py != 0;  // n % batch_size
  }
  return v;
}

// `std::exchange(before, rows)`: what a function of the system writes may follow the batch as what it is given does, or not.
Value Kinds::writtenNumber(const Value& in) {
  Value number(Kind::Uniform);
  number.mixed = in.isUniform() && (in.mixed || powerOf(in) != 0);
  return number;
}

// A function of numbers that is not the program's own.
Value Kinds::ofFunction(const Expr* call, const llvm::SmallDenseMap<const Expr*, Value, 4>& looked) {
  Value number(Kind::Uniform);
  const bool text = isText(call->getType());
  if (!text && !call->getType()->isArithmeticType()) return number;
  const auto arguments = argumentsOf(call);
  const bool between = !objectOf(call) && arguments.size() == 2 && calleeName(call) == "distance";
  const auto* difference = dyn_cast<CXXOperatorCallExpr>(call);
  if (between ? countsBetweenIterators(arguments[1], arguments[0]) : difference && difference->getOperator() == OO_Minus && difference->getNumArgs() == 2 && countsBetweenIterators(difference->getArg(0), difference->getArg(1)))
    return Kind::BatchSize;
  Value from;
  for (const Expr* a : arguments) {
    if (isLiteral(a) || !(a->getType()->isArithmeticType() || isText(a->getType()) || text)) continue;
    Value v = looked.lookup(a);
    if (v.dependsOnSamples()) v = combined(v);
    if (v.kind == Kind::None && (!settled_ || !open_.empty())) return {};
    from = join(from, v);
  }
  number.power = powerOf(from);
  number.steps = from.steps;
  number.mixed = from.mixed;
  const llvm::StringRef name = calleeName(call);
  if (name == "pow" && arguments.size() == 2 && number.power != 0) {
    const auto exponent = exponentOf(arguments[1], code_.context());
    number.power = std::clamp(number.power * exponent.value_or(0), -kMostPower, kMostPower);
    number.mixed = !exponent;
  } else if (!keepsPower(name) && !isa<CXXConstructExpr>(call)) {
    number.mixed = number.mixed || number.power != 0;  // the square root of the size of a batch
    number.power = 0;
  }
  return number;
}

// `struct Settings { int rows = 8; }`, and `settings.rows = rows_given;`: what a member holds before it gets its number says nothing about that.
Value Kinds::withoutDefault(const ValueDecl* field, const Expr* mention, const Value& any) {
  if (!any.isUniform() || !field->getType()->isArithmeticType() || batchSizes_.empty()) return any;
  const auto given = definitions_.of(field);
  const auto plain = [](const Definition& def) { return def.value && !def.compound && !def.through; };
  const auto isDefault = [](const Definition& def) { return isLiteral(def.value); };
  if (!llvm::all_of(given, plain) || llvm::none_of(given, isDefault) || llvm::all_of(given, isDefault) || !open_.insert(mention).second) return any;
  Value v;
  for (const Definition& def : given)
    if (!isDefault(def)) v = join(v, of(def.value));
  open_.erase(mention);
  if (v.kind == Kind::None) return settled_ ? any : Value();
  return v.isUniform() && v.kind != Kind::Zero ? v : any;
}

// `factors[0]` of numbers that are written in a list and never changed: the one that stands there.
std::optional<Value> Kinds::itemOfNumbers(const Expr* item, const Expr* list, const Expr* index) {
  const auto* v = isa<DeclRefExpr>(strip(list)) ? dyn_cast_or_null<VarDecl>(declOf(list)) : nullptr;
  Expr::EvalResult at;
  if (!v || !item->getType()->isArithmeticType() || index->isValueDependent() || !index->EvaluateAsInt(at, code_.context()) || at.Val.getInt().isNegative()) return std::nullopt;
  const auto given = definitions_.of(v);
  if (given.size() != 1 || !given[0].value || given[0].compound || given[0].through) return std::nullopt;
  for (const Expr* use : definitions_.uses(v)) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<CallExpr>(p);
    if (call && objectOf(call) && strip(objectOf(call)) == strip(use) && (calleeName(call) == "size" || calleeName(call) == "empty")) continue;
    const bool read = isa_and_nonnull<ArraySubscriptExpr>(p) || (call && objectOf(call) && strip(objectOf(call)) == strip(use) && (isa<CXXOperatorCallExpr>(call) || calleeName(call) == "at"));
    const Stmt* then = read ? code_.parent(p) : nullptr;
    while (isa_and_nonnull<ParenExpr>(then)) then = code_.parent(then);
    const auto* load = dyn_cast_or_null<ImplicitCastExpr>(then);
    if (!load || load->getCastKind() != CK_LValueToRValue) return std::nullopt;
  }
  const auto parts = partsOf(given[0].value);
  const uint64_t i = at.Val.getInt().getZExtValue();
  Value part = parts && i < parts->size() ? eval((*parts)[i]) : Value(Kind::RankLocal);
  if (part.kind == Kind::Rows && isCountedWhole((*parts)[i])) part = combined(part);
  return part.isUniform() ? std::optional(part) : std::nullopt;
}

Value Kinds::evalOperator(const BinaryOperator* b) {
  const Expr *l = b->getLHS(), *r = b->getRHS();
  if (b->getOpcode() == BO_Comma) return eval(l), eval(r);
  if (b->getOpcode() == BO_Assign) {
    const Value v = combinedFirst_.count(declOf(strip(l))) ? host(r) : eval(r);
    writtenThrough(l);
    assign(l, v);
    return v;
  }
  if (b->isCompoundAssignmentOp()) {
    writtenThrough(l);
    countsOn(l);
    const Value v = host(r);
    const Value before = b->getOpcode() == BO_MulAssign || b->getOpcode() == BO_DivAssign ? eval(l) : Value();
    if (before.isUniform() && before.kind != Kind::None && v.isUniform() && v.kind != Kind::None) {  // inverse /= batch_size
      const Value product = ofNumbers(b->getOpcode() == BO_MulAssign ? BO_Mul : BO_Div, before, v, l, r, b);
      assign(l, product);
      return product;
    }
    if (!countedByRows_.count(declOf(strip(l)))) assign(l, v.kind == Kind::Zero ? Value(Kind::Uniform) : v);
    return v;
  }
  if (b->getOpcode() == BO_Mul && b->getType()->isIntegerType()) {
    const Value v = multiplyValues(eval(l), eval(r), b);
    if (v.kind == Kind::Rows) return v;
  }
  if (b->getOpcode() == BO_Sub && countsBetween(l, r)) return host(l), host(r), Kind::BatchSize;
  // Numbers are whole from here on: counts of rows become global, conditions stay what they are.
  const Value x = host(l), y = host(r);
  if (x.kind == Kind::RankLocal) return x;
  if (y.kind == Kind::RankLocal) return y;
  return ofNumbers(b->getOpcode(), x, y, l, r, b);
}

}  // namespace hvdize
