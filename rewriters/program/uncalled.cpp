// SPDX-License-Identifier: Apache-2.0
// Functions that are left over: nothing in the program calls them, or names them otherwise. They hold no facts.
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"

#include "rewriters/program/author.h"

using namespace clang;

namespace hvdize {

namespace {

// Could nobody but this file name the function? One of external linkage is known elsewhere by a header; what the file with main declares itself is its own.
bool isOfThisFile(const FunctionDecl* f, const AuthorFiles& files, bool hasMain) {
  if (isa<CXXMethodDecl>(f) || f->isMain() || f->isOverloadedOperator() || f->isExternC() || !files.inMainFile(f->getLocation())) return false;
  if (f->hasAttrs() && llvm::any_of(f->getAttrs(), [](const Attr* a) { return !isa<UnusedAttr>(a); })) return false;
  if (f->isTemplateInstantiation() || f->getTemplatedKind() != FunctionDecl::TK_NonTemplate || f->isConstexpr()) return false;
  if (!f->isExternallyVisible()) return true;
  return hasMain && !f->isInlined() && llvm::all_of(f->redecls(), [&](const FunctionDecl* d) { return files.inMainFile(d->getLocation()) && !d->getStorageClass(); });
}

// The function in whose text a lambda's call operator, or another local class' method, stands; the function itself otherwise.
const FunctionDecl* around(const FunctionDecl* f) {
  for (const DeclContext* at = f; at && !at->isFileContext(); at = at->getParent())
    if (const auto* outer = dyn_cast<FunctionDecl>(at)) f = outer;
  return f ? f->getCanonicalDecl() : nullptr;
}

}  // namespace

void AuthorCode::findUncalled() {
  const bool hasMain = llvm::any_of(functions_, [](const Function& f) { return f.decl->isMain(); });
  llvm::DenseMap<const FunctionDecl*, llvm::SmallVector<const FunctionDecl*, 2>> named;  // and where
  for (const auto& [s, in] : owner_)
    if (const auto* r = dyn_cast<DeclRefExpr>(s))
      if (const auto* f = dyn_cast<FunctionDecl>(r->getDecl())) named[f->getCanonicalDecl()].push_back(around(in));
  llvm::SmallVector<const FunctionDecl*, 4> open;
  for (const Function& f : functions_)
    if (!f.lambda && isOfThisFile(f.decl, files_, hasMain)) open.push_back(f.decl->getCanonicalDecl());
  for (bool changed = true; changed;) {
    changed = false;
    for (const FunctionDecl* f : open) {
      if (uncalled_.contains(f)) continue;
      const auto places = named.find(f);
      // What refers to it and is none of the author's code (a template that is not used, decltype) does not call it, but could.
      const bool unknown = places == named.end() && f->isReferenced();
      if (unknown || (places != named.end() && llvm::any_of(places->second, [&](const FunctionDecl* in) { return in != f && !uncalled_.contains(in); }))) continue;
      uncalled_.insert(f);
      changed = true;
    }
  }
}

}  // namespace hvdize
