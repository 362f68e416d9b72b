// SPDX-License-Identifier: Apache-2.0
// Sizes of layers: `zeros({layers, n, width})`, the state of a recurrent layer, has no row for each sample where `layers` is a size that a layer is
// made with.
#include "rewriters/program/batches.h"

using namespace clang;

namespace hvdize {

// What a number is called where a layer is made with it: variables, members and the numbers that those hold.
void Batches::findLayerSizes() {
  const auto note = [&](const Expr* size) {
    const ValueDecl* d = declOf(strip(size));
    if (!d || !size->getType().getNonReferenceType()->isIntegerType()) return;
    layerSizes_.insert(d);
    for (const Expr* o : definitions_.origins(size)) layerSizes_.insert(o);
  };
  for (const Root& root : code_.roots())
    forEachExpr(root.code, [&](const Expr* e) {
      const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
      const CXXRecordDecl* made = isa<CXXConstructExpr>(e) ? dialect_.recordOf(e->getType()) : nullptr;
      const bool layer = (entry && entry->role == Role::ModuleOptions) || (made && (dialect_.is(made, Role::ModuleOptions) || (dialect_.owns(made) && dialect_.is(made, Role::Module))));
      if (!layer) return;
      for (const Expr* a : argumentsOf(e)) note(a);
    });
}

// Is this extent a size that some layer is made with, or what a layer says of its own?
bool Batches::isLayerSize(const Expr* extent) const {
  const Expr* e = strip(extent);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  if (const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr; entry && entry->role == Role::ModuleOptions) return true;
  const ValueDecl* d = declOf(e);
  if (!d) return false;
  if (layerSizes_.count(d)) return true;
  // A member that is given the same parameter of a constructor as the layer.
  const auto origins = definitions_.origins(e);
  return !origins.empty() && llvm::all_of(origins, [&](const Expr* o) { return layerSizes_.count(o) || (declOf(o) && layerSizes_.count(declOf(o))); });
}

namespace {

bool drawsPositions(const Expr* draw) {
  const llvm::StringRef name = calleeName(draw);
  return name.contains("int") || name.contains("perm") || name.contains("multinomial");
}

// The numbers that a program writes where the size of a batch may stand: everywhere but in bounds of loops, seeds, layers, dimensions and the like.
class WrittenSizes {
 public:
  WrittenSizes(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, llvm::function_ref<bool(const ValueDecl*)> isLayerSize)
      : code_(code), dialect_(dialect), definitions_(definitions), isLayerSize_(isLayerSize) {}

  bool has(const llvm::APInt& size, const Expr* draw) const {
    for (const Root& root : code_.roots()) {
      bool found = false;
      forEachExpr(root.code, [&](const Expr* e) {
        const auto* i = found ? nullptr : dyn_cast<IntegerLiteral>(e);
        found = found || (i && i->getValue().getZExtValue() == size.getZExtValue() && mayBeSize(i, root, draw));
      });
      if (found) return true;
    }
    return false;
  }

 private:
  bool isBound(const Expr* compared) const {
    const auto* b = dyn_cast<BinaryOperator>(compared);
    const auto* loop = b && b->isComparisonOp() ? dyn_cast_or_null<ForStmt>(code_.parent(b)) : nullptr;
    return loop && loop->getCond() && strip(loop->getCond()) == b;
  }

  // Is it `epoch < epochs` that the variable is for, or a layer?
  bool isOfOtherUse(const VarDecl* v) const {
    if (isLayerSize_(v)) return true;
    const auto uses = definitions_.uses(v);
    return !uses.empty() && llvm::all_of(uses, [&](const Expr* use) {
      const Stmt* p = code_.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
      return p && isa<Expr>(p) && isBound(cast<Expr>(p));
    });
  }

  bool mayBeSize(const IntegerLiteral* i, const Root& root, const Expr* draw) const {
    const Expr* below = i;
    for (const Stmt* p = code_.parent(i); isa_and_nonnull<Expr>(p); p = code_.parent(p)) {
      const auto* e = cast<Expr>(p);
      if (e == draw || isBound(e)) return false;
      const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
      const CXXRecordDecl* made = isa<CXXConstructExpr>(e) ? dialect_.recordOf(e->getType()) : nullptr;
      if (made && (dialect_.is(made, Role::ModuleOptions) || (dialect_.owns(made) && dialect_.is(made, Role::Module)))) return false;
      if (!entry) {
        below = e;
        continue;
      }
      if (entry->role == Role::ModuleOptions || entry->role == Role::Seed) return false;
      const bool shaped = entry->role == Role::RandomDraw || (entry->role == Role::Op && (entry->op == OpKind::Factory || entry->op == OpKind::Reshape));
      if (shaped) {
        // Of a draw only one of positions forms batches as well.
        if (entry->role == Role::RandomDraw && !drawsPositions(e)) return false;
        const auto arguments = argumentsOf(e);
        const auto list = entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry->shape]) : std::nullopt;
        return !list || list->empty() || strip(list->front()) == i || !isWithin(code_, i, arguments[entry->shape]);
      }
      if (entry->role == Role::Op && entry->op != OpKind::Select) return false;
      below = e;
    }
    const VarDecl* v = code_.variableInitialisedBy(below);
    if (!v) v = dyn_cast_or_null<VarDecl>(root.code == below ? root.initialises : nullptr);
    return !v || !isOfOtherUse(v);
  }

  const AuthorCode& code_;
  const Dialect& dialect_;
  const Definitions& definitions_;
  llvm::function_ref<bool(const ValueDecl*)> isLayerSize_;
};

}  // namespace

// rand({}), randn({1}), rand({width}), rand({3, 1, 1}) where batches of three are nowhere written: a number, a single row or one number for each feature, drawn for all samples of the step. Where nothing else
// is found that forms the batch, it may be that.
bool Batches::isDrawnForAll(const Expr* draw) const {
  const Entry* entry = dialect_.lookup(draw);
  const auto arguments = argumentsOf(draw);
  if (!entry || entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return false;
  const Expr* shape = strip(arguments[entry->shape]);
  if (const auto* k = dyn_cast<CXXConstructExpr>(shape); k && argumentsOf(k).empty()) return true;
  const auto list = extentsOf(shape);
  if (!list) return false;
  const auto* one = list->empty() ? nullptr : dyn_cast<IntegerLiteral>(strip(list->front()));
  if (list->empty() || (one && one->getValue() == 1) || isLayerSize(list->front()) || meetsTrained(draw, *list)) return true;
  const auto isOfLayer = [&](const ValueDecl* d) { return layerSizes_.count(d) > 0; };
  return one && !drawsPositions(draw) && !WrittenSizes(code_, dialect_, definitions_, isOfLayer).has(one->getValue(), draw);
}

}  // namespace hvdize
