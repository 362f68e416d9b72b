// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/folder_loops.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

bool isListing(QualType t) {
  const CXXRecordDecl* record = t.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && isSystemDecl(record) && (record->getName() == "directory_iterator" || record->getName() == "recursive_directory_iterator");
}

bool lists(const Stmt* s) {
  bool found = false;
  forEachExpr(s, [&](const Expr* e) {
    const FunctionDecl* f = calleeOf(e);
    const bool reads = f && isSystemDecl(f) && f->getDeclName().isIdentifier() && !isa<CXXMethodDecl>(f) && f->getName() == "readdir";
    found = found || reads || isListing(e->getType());
  });
  return found;
}

// What its rounds are made from.
bool goesThroughFolder(const Stmt* loop) {
  if (const auto* range = dyn_cast<CXXForRangeStmt>(loop)) return isListing(range->getRangeInit()->getType());
  if (const auto* f = dyn_cast<ForStmt>(loop)) return lists(f->getInit()) || lists(f->getCond());
  if (const auto* w = dyn_cast<WhileStmt>(loop)) return lists(w->getCond());
  return false;
}

// A new folder or a copy is no harm to those who still read the listing.
bool takesAway(const FunctionDecl* f) {
  return hostRole(f) == HostRole::FileChange && f->getDeclName().isIdentifier() && llvm::is_contained({"remove", "remove_all", "rename", "unlink", "rmdir"}, f->getName());
}

bool leavesFunction(const Stmt* s) {
  if (!s || isa<LambdaExpr>(s)) return false;
  return isa<ReturnStmt, GotoStmt, CoreturnStmt, CoyieldExpr>(s) || llvm::any_of(s->children(), leavesFunction);
}

}  // namespace

FolderLoops::FolderLoops(const Model& model) : model_(model) {
  for (const Function& f : model_.code.functions()) find(f.body);
}

bool FolderLoops::holds(const Stmt* s) const {
  return llvm::any_of(loops_, [&](const Loop& l) { return !l.refusal && isWithin(model_.code, s, l.statement); });
}

const Expr* FolderLoops::changeIn(const Stmt* s, bool& called) const {
  const Expr* change = nullptr;
  llvm::DenseSet<const FunctionDecl*> seen;
  const std::function<bool(const Stmt*)> changes = [&](const Stmt* body) {
    bool found = false;
    forEachExpr(body, [&](const Expr* e) {
      const FunctionDecl* f = calleeOf(e);
      found = found || (f && takesAway(f));
      for (const FunctionDecl* t : model_.code.targets(e))
        if (const Function* known = seen.insert(t->getCanonicalDecl()).second ? model_.code.find(t) : nullptr) found = changes(known->body) || found;
    });
    return found;
  };
  forEachExpr(s, [&](const Expr* e) {
    if (const FunctionDecl* f = calleeOf(e); f && takesAway(f)) {
      change = change && !called ? change : e;
      called = false;
      return;
    }
    for (const FunctionDecl* t : model_.code.targets(e))
      if (const Function* known = model_.code.find(t); known && !change && changes(known->body)) change = e, called = true;
  });
  return change;
}

void FolderLoops::find(const Stmt* s) {
  if (!s) return;
  bool called = false;
  const Expr* change = isLoop(s) && goesThroughFolder(s) && !model_.threads.mayRun(s) ? changeIn(s, called) : nullptr;
  if (!change) {
    for (const Stmt* c : s->children()) find(c);
    return;
  }
  Loop loop{s, change};
  if (called || leavesFunction(s) || !model_.effectFreeButFiles(s))
    loop.refusal = "it happens while a folder is listed, by each rank for itself, and the root cannot go through that loop alone, for something else is done in it that "
                   "every rank needs; list the names first, and change the files in a loop over the names";
  loops_.push_back(loop);
}

}  // namespace hvdize
