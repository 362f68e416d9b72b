// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/constructions.h"

#include "clang/AST/DeclTemplate.h"

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

const CXXRecordDecl* recordIn(QualType t) {
  t = t.getNonReferenceType();
  while (const ArrayType* a = t->getAsArrayTypeUnsafe()) t = a->getElementType();
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return r ? r->getDefinition() : nullptr;
}

// Is a T, or something that holds or points to one, in this type?
bool holds(QualType t, const CXXRecordDecl* record) {
  t = t.getNonReferenceType();
  if (t->isPointerType()) t = t->getPointeeType();
  const CXXRecordDecl* r = recordIn(t);
  if (r == record) return true;
  const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(r);
  return s && llvm::any_of(s->getTemplateArgs().asArray(), [&](const TemplateArgument& a) { return a.getKind() == TemplateArgument::Type && holds(a.getAsType(), record); });
}

bool handsOver(const Expr* call, const CXXRecordDecl* record) {
  return llvm::any_of(argumentsOf(call), [&](const Expr* a) { return a->getType()->isNullPtrType() || holds(a->getType(), record); });
}

// std::map and std::unordered_map make what they do not have yet.
bool makesMissing(const Expr* call) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(call);
  const auto* map = o && o->getOperator() == OO_Subscript ? dyn_cast_or_null<ClassTemplateSpecializationDecl>(recordIn(o->getArg(0)->getType())) : nullptr;
  return map && map->isInStdNamespace() && (map->getName() == "map" || map->getName() == "unordered_map");
}

}  // namespace

Constructions::Constructions(const AuthorCode& code) : code_(code) {
  for (const FieldDecl* f : code.fields())
    if (f->getInClassInitializer()) fields_[f->getInClassInitializer()] = cast<CXXRecordDecl>(f->getParent())->getDefinition();
  for (const Root& r : code.roots()) forEachExpr(r.code, [this](const Expr* e) { look(e); });
}

void Constructions::add(const CXXRecordDecl* record, const Expr* at) {
  record = record ? record->getDefinition() : nullptr;
  if (!record || record->isLambda()) return;
  auto& known = places_[record];
  if (llvm::is_contained(known, at)) return;
  known.push_back(at);
  if (!code_.files().contains(record->getLocation())) return;
  for (const CXXBaseSpecifier& b : record->bases()) {
    const CXXRecordDecl* base = recordIn(b.getType());
    add(base, at);
    // A holder of the framework makes what it holds.
    if (const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(base); s && !code_.files().contains(s->getLocation()) && !handsOver(at, record))
      addNamed(s->getTemplateArgs().asArray(), at);
  }
  for (const FieldDecl* f : record->fields()) {
    const CXXRecordDecl* part = recordIn(f->getType());
    if (part && code_.files().contains(part->getLocation())) add(part, at);
  }
}

void Constructions::addNamed(llvm::ArrayRef<TemplateArgument> arguments, const Expr* at) {
  for (const TemplateArgument& a : arguments) {
    const CXXRecordDecl* r = a.getKind() == TemplateArgument::Type ? recordIn(a.getAsType()) : nullptr;
    if (r && code_.files().contains(r->getLocation()) && !handsOver(at, r)) add(r, at);
  }
}

void Constructions::look(const Expr* e) {
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    if (const CXXRecordDecl* r = recordIn(list->getType()); r && !list->getType()->isArrayType()) add(r, e);
    return;
  }
  const FunctionDecl* callee = calleeOf(e);
  if (!callee) return;
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    const CXXConstructorDecl* c = k->getConstructor();
    if (c->isCopyOrMoveConstructor() || (k->getNumArgs() == 1 && k->getArg(0)->getType()->isNullPtrType())) return;
    const CXXRecordDecl* r = c->getParent();
    add(r, e);
    const auto* s = dyn_cast<ClassTemplateSpecializationDecl>(r);
    // An empty container or pointer of the standard library makes nothing; a holder of the framework does.
    if (s && !code_.files().contains(s->getLocation()) && (!argumentsOf(e).empty() || !s->isInStdNamespace() || s->getName() == "array" || s->getName() == "pair" || s->getName() == "tuple"))
      addNamed(s->getTemplateArgs().asArray(), e);
    return;
  }
  if (code_.find(callee) || !callee->getDeclName().isIdentifier()) {
    if (makesMissing(e)) addNamed(cast<ClassTemplateSpecializationDecl>(recordIn(objectOf(e)->getType()))->getTemplateArgs().asArray(), e);
    return;
  }
  const StringRef name = callee->getName();
  if (name.starts_with("make_"))
    if (const TemplateArgumentList* given = callee->getTemplateSpecializationArgs()) addNamed(given->asArray().take_front(1), e);
  if (const Expr* object = name.starts_with("emplace") || name == "resize" ? objectOf(e) : nullptr)
    if (const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(recordIn(object->getType()))) addNamed(s->getTemplateArgs().asArray(), e);
}

llvm::ArrayRef<const Expr*> Constructions::of(const CXXRecordDecl* record) const {
  const auto it = places_.find(record->getDefinition());
  if (it == places_.end()) return {};
  return it->second;
}

const CXXRecordDecl* Constructions::evaluating(const Stmt* initialiser) const { return fields_.lookup(initialiser); }

}  // namespace hvdize
