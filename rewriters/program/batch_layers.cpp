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

// rand({}), randn({1}), rand({width}): a number, a single row or one number for each feature, drawn for all samples of the step. Where nothing else
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
  return list->empty() || (one && one->getValue() == 1) || isLayerSize(list->front());
}

}  // namespace hvdize
