// SPDX-License-Identifier: Apache-2.0
// Layers and functions that are told along which dimensions they work.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

namespace {

// Is the dimension that the layer is made with another one than the first? What is not a constant may be the first.
bool avoidsFirst(const Expr* make, const Entry& entry, ASTContext& context, const Dialect& dialect) {
  const auto arguments = argumentsOf(make);
  if (entry.arg >= static_cast<int>(arguments.size())) return true;  // an empty holder
  if (const auto told = entry.dimOption.empty() ? std::nullopt : dimensionOption(arguments[entry.arg], entry.dimOption, context)) return *told && **told != 0;
  const Expr* a = strip(arguments[entry.arg]);
  if (a->getType()->isNullPtrType() || dialect.is(a->getType(), Role::Module)) return true;  // a holder of a layer made elsewhere
  if (const auto* k = dyn_cast<CXXConstructExpr>(a); k && k->getNumArgs() >= 1) a = strip(k->getArg(0));
  Expr::EvalResult r;
  return a->getType()->isIntegralOrEnumerationType() && !a->isValueDependent() && a->EvaluateAsInt(r, context) && r.Val.getInt() != 0;
}

}  // namespace

// A list of layers has a push_back, mostly a template that takes any layer.
bool takesLayers(const CXXRecordDecl* record) {
  return record && record->hasDefinition() && llvm::any_of(record->decls(), [](const Decl* d) {
           const auto* t = dyn_cast<FunctionTemplateDecl>(d);
           const auto* f = t ? t->getTemplatedDecl() : dyn_cast<FunctionDecl>(d);
           return f && f->getDeclName().isIdentifier() && (f->getName() == "push_back" || (t && f->getName() == "forward"));
         });
}

// Modules of the author's that are put into containers of the framework, which call them: by value, by pointer or by their holder.
// And those that the author's own code calls through a holder, `net(x)`: what they get is what stands there.
void Kinds::findHeldModules() {
  const auto look = [&](const Expr* x) {
    const FunctionDecl* f = calleeOf(x);
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(x); o && o->getOperator() == OO_Call)
      if (const CXXRecordDecl* called = dialect_.recordOf(o->getArg(0)->getType()); called && dialect_.is(called, Role::Module)) calledModules_.insert(called->getCanonicalDecl());
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    if (!method || !dialect_.owns(f) || (method->getDeclName().isIdentifier() && method->getName().starts_with("register_"))) return;
    for (const Expr* a : argumentsOf(x)) {
      const CXXRecordDecl* module = dialect_.recordOf(a->getType());
      if (!module || !code_.files().contains(module->getLocation()) || !dialect_.is(module, Role::Module)) continue;
      if (isa<CXXConstructExpr>(x) && dialect_.recordOf(x->getType()) == module) continue;  // its own holder, as `register_module` takes it
      heldModules_.insert(module->getCanonicalDecl());
    }
  };
  for (const Root& r : code_.roots()) forEachExpr(r.code, look);
}

// What such a module makes of its input, where it is no tensor with one row per sample.
Value Kinds::ofHeldModules(const Expr* container) {
  if (!takesLayers(dialect_.recordOf(container->getType()))) return {};
  for (const Function& f : code_.functions()) {
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    if (!m || !m->getDeclName().isIdentifier() || m->getName() != "forward" || !heldModules_.count(m->getParent()->getCanonicalDecl())) continue;
    if (const Value made = returns_.lookup(m->getCanonicalDecl()); made.dependsOnSamples() && made.kind != Kind::Sharded && made.kind != Kind::Second) return made;
  }
  return {};
}

// May `object` be, or hold, a layer that works along the first dimension?
bool Kinds::worksAlongRows(const Expr* object) const {
  const CXXRecordDecl* record = dialect_.recordOf(object->getType());
  for (const Site& s : sites_.of(Role::LayerAlong)) {
    if (avoidsFirst(s.call, *s.entry, code_.context(), dialect_)) continue;
    const CXXRecordDecl* layer = dialect_.recordOf(s.call->getType());
    if (takesLayers(record) || (record && layer && record->getCanonicalDecl() == layer->getCanonicalDecl())) return true;
    for (const Expr* o : definitions_.origins(object)) {
      bool holds = false;
      forEachExpr(o, [&](const Expr* x) { holds = holds || x == s.call; });
      if (holds) return true;
    }
  }
  return false;
}

// Is the argument the shape of a batch, or a list of extents with its number of rows?
bool Kinds::shapedLikeBatch(const Expr* argument) {
  if (eval(argument).kind == Kind::Shape) return true;
  const auto list = extentsOf(argument);
  return list && llvm::any_of(*list, [&](const Expr* extent) { return eval(extent).kind == Kind::Rows; });
}

}  // namespace hvdize
