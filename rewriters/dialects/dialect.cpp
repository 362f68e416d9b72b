// SPDX-License-Identifier: Apache-2.0
#include "rewriters/dialects/dialect.h"

#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

#include "rewriters/dialects/built_in.h"
#include "rewriters/dialects/reader.h"

namespace hvdize {
namespace {

using clang::CXXRecordDecl;
using clang::FunctionDecl;
using clang::QualType;

/// The record with its definition, when there is one.
const CXXRecordDecl* defined(const CXXRecordDecl* record) {
  return record && record->hasDefinition() ? record->getDefinition() : record;
}

/// The class of a base specifier; for a base that depends on template parameters, that of its pattern.
const CXXRecordDecl* baseRecord(const clang::CXXBaseSpecifier& base) {
  const QualType type = base.getType();
  if (const CXXRecordDecl* record = type->getAsCXXRecordDecl()) return record;
  if (auto* specialization = type->getAs<clang::TemplateSpecializationType>())
    if (auto* pattern = llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(specialization->getTemplateName().getAsTemplateDecl()))
      return pattern->getTemplatedDecl();
  return nullptr;
}

/// The class and its bases, nearest first. Stops when `visit` returns true.
template <typename Visit>
bool forBases(const CXXRecordDecl* record, Visit visit) {
  std::vector<const CXXRecordDecl*> queue = {defined(record)};
  for (size_t i = 0; i < queue.size() && i < 256; ++i) {
    if (!queue[i]) continue;
    if (visit(queue[i])) return true;
    if (!queue[i]->hasDefinition()) continue;
    for (const clang::CXXBaseSpecifier& base : queue[i]->bases()) queue.push_back(defined(baseRecord(base)));
  }
  return false;
}

QualType firstTemplateArgument(const CXXRecordDecl* record) {
  auto* specialization = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (!specialization || specialization->getTemplateArgs().size() == 0) return {};
  const clang::TemplateArgument& first = specialization->getTemplateArgs()[0];
  return first.getKind() == clang::TemplateArgument::Type ? first.getAsType() : QualType();
}

bool isSmartPointer(const CXXRecordDecl* record) {
  if (!record->isInStdNamespace() || !record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  return name == "unique_ptr" || name == "shared_ptr" || name == "weak_ptr" || name == "optional" || name == "reference_wrapper";
}

/// Does `name` fit `pattern`, in which `*` stands for any text?
bool matches(llvm::StringRef name, llvm::StringRef pattern) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  pattern.split(parts, '*');
  if (!name.consume_front(parts.front())) return false;
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const size_t at = name.find(parts[i]);
    if (at == llvm::StringRef::npos) return false;
    name = name.drop_front(at + parts[i].size());
  }
  return name.ends_with(parts.back());
}

}  // namespace

std::string qualifiedName(const clang::NamedDecl* decl) {
  std::string name;
  auto prepend = [&](llvm::StringRef part) { name = name.empty() ? part.str() : (part + "::" + name).str(); };
  if (auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(decl)) prepend(constructor->getParent()->getName());
  else if (auto* identifier = decl->getIdentifier()) prepend(identifier->getName());
  else prepend(decl->getDeclName().getAsString());
  for (const clang::DeclContext* c = decl->getDeclContext(); c && !c->isTranslationUnit(); c = c->getParent()) {
    if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(c)) {
      if (!space->isInline() && !space->isAnonymousNamespace()) prepend(space->getName());
    } else if (auto* tag = llvm::dyn_cast<clang::TagDecl>(c)) {
      // The enumerators of a scoped enumeration only are named through it; both are written so here.
      if (tag->getIdentifier()) prepend(tag->getName());
    } else if (auto* function = llvm::dyn_cast<FunctionDecl>(c)) {
      if (function->getIdentifier()) prepend(function->getName());
    }
  }
  return name;
}

std::unique_ptr<Dialect> Dialect::parse(llvm::StringRef yaml, llvm::StringRef fileName, std::string* error) {
  return DialectReader(yaml, fileName).read(error);
}

std::vector<std::string> Dialect::builtInNames() {
  std::vector<std::string> names;
  for (const BuiltInDialect& d : builtInDialects()) names.emplace_back(d.name);
  return names;
}

std::unique_ptr<Dialect> Dialect::load(llvm::StringRef nameOrFile, std::string* error) {
  for (const BuiltInDialect& d : builtInDialects())
    if (nameOrFile == llvm::StringRef(d.name)) return parse(llvm::StringRef(d.yaml), nameOrFile.str() + ".yaml", error);
  if (!nameOrFile.contains('.') && !nameOrFile.contains('/')) {
    *error = "unknown dialect '" + nameOrFile.str() + "'; known:";
    for (const BuiltInDialect& d : builtInDialects()) *error += " " + std::string(d.name);
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFile(nameOrFile);
  if (!buffer) {
    *error = "cannot read the dialect '" + nameOrFile.str() + "': " + buffer.getError().message();
    return nullptr;
  }
  return parse((*buffer)->getBuffer(), nameOrFile, error);
}

const Entry* Dialect::byName(llvm::StringRef name, int params) const {
  const Entry* any = nullptr;
  if (auto found = names_.find(name); found != names_.end())
    for (const Entry* e : found->second) {
      if (e->params == params && params >= 0) return e;
      if (e->params < 0) any = e;
    }
  if (any || patterns_.empty() || !owns(name)) return any;
  for (const Entry* e : patterns_)
    if (matches(name, e->name)) return e;
  return nullptr;
}

const Entry* Dialect::find(const FunctionDecl* function) const {
  if (auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
    if (auto inherited = constructor->getInheritedConstructor()) return lookup(inherited.getConstructor());
  if (const Entry* e = byName(qualifiedName(function), static_cast<int>(function->getNumParams()))) return e;
  if (auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function))
    for (const clang::CXXMethodDecl* overridden : method->overridden_methods())
      if (const Entry* e = lookup(overridden)) return e;
  return nullptr;
}

// sum(torch::kLong), std(true): overloads that take a type or a flag where others take a dimension.
static bool mayBeDimension(QualType type) {
  type = type.getNonReferenceType();
  if (const CXXRecordDecl* record = type->getAsCXXRecordDecl(); record && record->getIdentifier() && record->getName() == "optional" && !firstTemplateArgument(record).isNull())
    type = firstTemplateArgument(record);
  return !type->isBooleanType() && !type->isEnumeralType();
}

const Entry* Dialect::lookup(const FunctionDecl* function) const {
  if (!function) return nullptr;
  const clang::Decl* key = function->getCanonicalDecl();
  if (auto cached = cache_.find(key); cached != cache_.end()) return cached->second;
  const Entry* e = find(function);
  if (e && e->dim >= 0 && static_cast<unsigned>(e->dim) < function->getNumParams() && !mayBeDimension(function->getParamDecl(e->dim)->getType())) {
    overloads_.push_back(*e);
    overloads_.back().dim = -1;
    e = &overloads_.back();
  }
  cache_[key] = e;
  return e;
}

const Entry* Dialect::lookup(const CXXRecordDecl* record) const {
  if (!record) return nullptr;
  const clang::Decl* key = record->getCanonicalDecl();
  if (auto cached = cache_.find(key); cached != cache_.end()) return cached->second;
  const Entry* found = nullptr;
  forBases(record, [&](const CXXRecordDecl* r) { return (found = byName(qualifiedName(r), -1)) != nullptr; });
  cache_[key] = found;
  return found;
}

const CXXRecordDecl* Dialect::recordOf(QualType type) const {
  while (!type.isNull()) {
    type = type.getNonReferenceType();
    if (const QualType pointee = type->getPointeeType(); !pointee.isNull()) {
      type = pointee;
      continue;
    }
    const CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (!record) return nullptr;
    QualType held;
    if (isSmartPointer(record)) {
      held = firstTemplateArgument(record);
    } else {
      forBases(record, [&](const CXXRecordDecl* r) {
        const Entry* e = byName(qualifiedName(r), -1);
        if (!e || e->role != Role::Holder) return false;
        held = firstTemplateArgument(r);
        return true;
      });
    }
    if (held.isNull()) return record;
    type = held;
  }
  return nullptr;
}

const Entry* Dialect::lookup(QualType type) const { return lookup(recordOf(type)); }

const Entry* Dialect::lookup(const clang::ValueDecl* value) const {
  if (!value) return nullptr;
  if (auto* function = llvm::dyn_cast<FunctionDecl>(value)) return lookup(function);
  const clang::Decl* key = value->getCanonicalDecl();
  if (auto cached = cache_.find(key); cached != cache_.end()) return cached->second;
  // A local variable cannot be in the table; parameters of the author's functions are the many.
  const bool local = value->getParentFunctionOrMethod() != nullptr;
  const Entry* e = local ? nullptr : byName(qualifiedName(value), -1);
  cache_[key] = e;
  return e;
}

const Entry* Dialect::lookup(const clang::Expr* call) const {
  if (!call) return nullptr;
  const clang::Expr* e = call->IgnoreParenImpCasts()->IgnoreImplicit();
  if (auto* c = llvm::dyn_cast<clang::CallExpr>(e)) return lookup(c->getDirectCallee());
  if (auto* c = llvm::dyn_cast<clang::CXXConstructExpr>(e)) return lookup(llvm::cast<FunctionDecl>(c->getConstructor()));
  if (auto* c = llvm::dyn_cast<clang::CXXFunctionalCastExpr>(e)) return lookup(c->getSubExpr());
  if (auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) return lookup(m->getMemberDecl());
  if (auto* d = llvm::dyn_cast<clang::DeclRefExpr>(e)) return lookup(d->getDecl());
  return nullptr;
}

bool Dialect::is(const CXXRecordDecl* record, Role role) const {
  return record && forBases(record, [&](const CXXRecordDecl* r) {
           const Entry* e = byName(qualifiedName(r), -1);
           return e && e->role == role;
         });
}

bool Dialect::is(QualType type, Role role) const { return is(recordOf(type), role); }

bool Dialect::constructs(QualType type, Role role) const {
  const CXXRecordDecl* record = recordOf(type);
  return record && record->hasDefinition() && forBases(record, [&](const CXXRecordDecl* r) {
           return std::any_of(r->ctor_begin(), r->ctor_end(), [&](const clang::CXXConstructorDecl* c) { return is(c, role); });
         });
}

bool Dialect::is(const FunctionDecl* function, Role role) const {
  const Entry* e = lookup(function);
  return e && e->role == role;
}

bool Dialect::is(const clang::Expr* call, Role role) const {
  const Entry* e = lookup(call);
  return e && e->role == role;
}

bool Dialect::owns(const clang::Decl* decl) const {
  const clang::NamespaceDecl* outermost = nullptr;
  for (const clang::DeclContext* c = decl->getDeclContext(); c; c = c->getParent())
    if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(c); space && !space->isInline() && !space->isAnonymousNamespace()) outermost = space;
  return outermost && owns(outermost->getName());
}

bool Dialect::owns(llvm::StringRef name) const {
  const llvm::StringRef outermost = name.take_until([](char c) { return c == ':'; });
  return std::find(namespaces_.begin(), namespaces_.end(), outermost) != namespaces_.end();
}

}  // namespace hvdize
