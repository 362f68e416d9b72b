// SPDX-License-Identifier: Apache-2.0
// Shapes in lists that the program fills: `std::vector<int64_t> dims(x.dim(), 1); dims[0] = t.size(0);`.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Is the first extent of this list the number of this rank's rows, and no other one of them?
bool Kinds::beginsWithRows(const Expr* shape) { return isa<DeclRefExpr>(strip(shape)) && beginsWithRows(declOf(strip(shape))); }

bool Kinds::beginsWithRows(const ValueDecl* shape) {
  const auto* v = dyn_cast_or_null<VarDecl>(shape);
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !isStdRecord(v->getType()) || !v->getInit()) return false;
  const auto isRows = [&](const Expr* e) { return eval(e).kind == Kind::Rows; };
  const auto listOf = [](const Expr* e) -> const InitListExpr* {
    for (e = strip(e); e;) {
      if (const auto* list = dyn_cast<InitListExpr>(e)) return list;
      const auto* k = dyn_cast<CXXConstructExpr>(e);
      if (const auto* made = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(made->getSubExpr());
      else if (k && k->getNumArgs() > 0) e = strip(k->getArg(0));
      else return nullptr;
    }
    return nullptr;
  };
  bool first = false, others = false;
  if (const InitListExpr* list = listOf(v->getInit())) {
    for (unsigned i = 0; i < list->getNumInits(); ++i) (i == 0 ? first : others) = (i == 0 ? first : others) || isRows(list->getInit(i));
  } else if (const auto* k = dyn_cast<CXXConstructExpr>(strip(v->getInit()))) {
    for (const Expr* a : argumentsOf(k)) others = others || isRows(a);  // dims(n, rows)
  }
  for (const Expr* use : definitions_.uses(v)) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
    if (const auto* item = dyn_cast_or_null<CXXOperatorCallExpr>(p); item && item->getOperator() == OO_Subscript) {
      const Stmt* up = code_.parent(item);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(up)) up = code_.parent(up);
      const auto* b = dyn_cast_or_null<BinaryOperator>(up);
      if (!b || !b->isAssignmentOp() || strip(b->getLHS()) != item) continue;
      const auto* at = dyn_cast<IntegerLiteral>(strip(item->getArg(1)));
      if (at && at->getValue() == 0 && b->getOpcode() == BO_Assign) first = isRows(b->getRHS());
      else others = others || b->getOpcode() != BO_Assign || isRows(b->getRHS());
    } else if (const auto* m = dyn_cast_or_null<MemberExpr>(p)) {
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(code_.parent(m));
      const llvm::StringRef name = call ? calleeName(call) : "";
      if (name == "push_back" || name == "emplace_back") {
        for (const Expr* a : argumentsOf(call)) others = others || isRows(a);
      } else if (!call || !call->getMethodDecl()->isConst()) {
        others = others || (name != "begin" && name != "end" && name != "reserve" && name != "data" && name != "at");
      }
    }
  }
  return first && !others;
}

// Numbers in braces that fill a list: `std::vector<int64_t>{x.size(0), -1}` is a shape with this rank's rows. In any other list they count the rows of
// the whole batch.
Value Kinds::ofCounts(const Expr* list) {
  const auto counts = extentsOf(list);
  if (!counts || counts->empty()) return host(list);
  const bool shape = eval(counts->front()).kind == Kind::Rows && counts->front()->getType()->isIntegerType() &&
                     std::all_of(counts->begin() + 1, counts->end(), [&](const Expr* x) { return eval(x).isUniform() && eval(x).kind != Kind::BatchSize; });
  if (shape) return Kind::Shape;
  Value all(Kind::Uniform);
  for (const Expr* x : *counts) all = join(all, host(x));
  return all;
}

// `batch`, or in `batch * length` the size of the batch, where every sample becomes as many rows as every other. Null in others.
const Expr* Kinds::sizeIn(const Expr* extent) {
  if (eval(extent).kind == Kind::BatchSize) return extent;
  const auto* product = dyn_cast<BinaryOperator>(strip(extent));
  if (!product || product->getOpcode() != BO_Mul) return nullptr;
  const Value a = eval(product->getLHS()), b = eval(product->getRHS());
  if (!a.isUniform() || !b.isUniform() || a.power + b.power + (a.kind == Kind::BatchSize) + (b.kind == Kind::BatchSize) == 0) return nullptr;
  const Expr *left = sizeIn(product->getLHS()), *right = sizeIn(product->getRHS());
  const Value& other = left ? b : a;
  if (!left == !right || other.kind == Kind::None || other.power != 0) return nullptr;
  return left ? left : right;
}

// `x.sizes() == IntArrayRef({y.size(0), 5})`: both speak of this rank's rows, so all ranks find the same.
bool Kinds::comparesShapes(const Expr* e) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool named = isa<CXXMemberCallExpr>(e) && calleeName(e) == "equals" && argumentsOf(e).size() == 1;
  if (!named && !(o && o->getNumArgs() == 2 && (o->getOperator() == OO_EqualEqual || o->getOperator() == OO_ExclaimEqual))) return false;
  const Expr* sides[] = {named ? objectOf(e) : o->getArg(0), named ? argumentsOf(e)[0] : o->getArg(1)};
  for (const int shape : {0, 1}) {
    const auto list = extentsOf(sides[1 - shape]);
    if (!list || list->empty() || isTensor(sides[shape]->getType()) || eval(sides[shape]).kind != Kind::Shape) continue;
    const Value rows = eval(list->front());
    for (unsigned i = 1; i < list->size(); ++i)
      if (!eval((*list)[i]).isUniform() || eval((*list)[i]).kind == Kind::BatchSize) return false;
    if (rows.kind == Kind::Rows) return true;
    // A size that the program gives is another thing than the rows there are, from which a short last batch differs: it is compared with those of the whole batch.
    if (!rows.isUniform()) return false;
    host(sides[shape]);
    if (const Expr* first = strip(list->front()); recording_ && isSizeOfBatches(first)) sizesWrittenAgain_.insert(first);
    return true;
  }
  return false;
}

// The product of extents that are written as numbers.
static std::optional<uint64_t> productOf(llvm::ArrayRef<const Expr*> extents, ASTContext& context) {
  uint64_t product = 1;
  for (const Expr* e : extents) {
    Expr::EvalResult r;
    const Expr* number = strip(e);
    if (number->isValueDependent() || !number->getType()->isIntegralOrEnumerationType() || !number->EvaluateAsInt(r, context) || r.Val.getInt().isNegative()) return std::nullopt;
    product *= r.Val.getInt().getZExtValue();
  }
  return product;
}

// How many numbers each row of the tensor has, where the shape with which it was made is seen.
std::optional<uint64_t> Kinds::numbersInRow(const Expr* tensor, unsigned depth) const {
  std::optional<uint64_t> all;
  for (const Expr* o : definitions_.origins(tensor)) {
    const Entry* entry = calleeOf(o) && depth < 8 ? dialect_.lookup(o) : nullptr;
    const auto arguments = argumentsOf(o);
    std::optional<uint64_t> one;
    const bool made = entry && (entry->op == OpKind::Factory || entry->role == Role::RandomDraw) && entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size());
    const llvm::StringRef name = calleeName(o);
    const bool rows = entry && objectOf(o) && (name == "slice" || name == "narrow" || name == "index_select") && dimensionOf(o, *entry, code_.context()) == 0;
    if (const auto list = made ? extentsOf(arguments[entry->shape]) : std::nullopt; list && list->size() > 1) one = productOf(llvm::ArrayRef<const Expr*>(*list).drop_front(), code_.context());
    else if (rows || (entry && objectOf(o) && (name == "to" || name == "contiguous" || name == "clone" || name == "detach" || name == "relu" || name == "tanh" || name == "sigmoid"))) one = numbersInRow(objectOf(o), depth + 1);
    if (!one || (all && *all != *one)) return std::nullopt;
    all = one;
  }
  return all;
}

// x.view({-1, 24}), of rows of 12 numbers.
bool Kinds::foldsSamples(const Expr* tensor, llvm::ArrayRef<const Expr*> shape) const {
  const auto row = productOf(shape.drop_front(), code_.context());
  const auto sample = row && *row > 0 ? numbersInRow(tensor, 0) : std::nullopt;
  return sample && *sample % *row != 0;
}

// rand({5}), itself or in a variable: one dimension.
bool Kinds::isVector(const Expr* tensor) const {
  const auto made = tensor ? definitions_.origins(tensor) : std::vector<const Expr*>();
  return !made.empty() && llvm::all_of(made, [&](const Expr* x) {
    const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
    while (entry && entry->role == Role::Op && entry->op == OpKind::Elementwise && objectOf(x)) {  // .requires_grad_(), .to(..)
      x = strip(objectOf(x));
      entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
    }
    const auto given = argumentsOf(x);
    if (!entry || (entry->op != OpKind::Factory && entry->role != Role::RandomDraw) || entry->shape < 0 || entry->shape >= static_cast<int>(given.size())) return false;
    const auto list = extentsOf(given[entry->shape]);
    return list && list->size() == 1;
  });
}

}  // namespace hvdize
