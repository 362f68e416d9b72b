// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/files.h"

#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSet.h"

#include "rewriters/program/host.h"
#include "rewriters/program/opened_files.h"

using namespace clang;

namespace hvdize {

namespace {

/// The names a path may have; nothing when one of its sources is not a literal.
std::optional<llvm::StringSet<>> literals(const Definitions& definitions, const Expr* path) {
  llvm::StringSet<> names;
  for (const Expr* o : definitions.origins(path)) {
    const Expr* e = strip(o);
    if (const auto* made = dyn_cast<CXXConstructExpr>(e); made && !argumentsOf(made).empty()) e = strip(argumentsOf(made)[0]);
    const auto* text = dyn_cast<StringLiteral>(e);
    if (!text) return std::nullopt;
    names.insert(text->getString());
  }
  if (names.empty()) return std::nullopt;
  return names;
}

// std::filesystem::directory_iterator(folder), opendir(folder): what is there may be of any name.
bool listsFolder(const FunctionDecl* f) {
  if (const auto* made = dyn_cast<CXXConstructorDecl>(f)) {
    const llvm::StringRef name = made->getParent()->getName();
    return made->getNumParams() > 0 && !made->isCopyOrMoveConstructor() && isSystemDecl(made) && (name == "directory_iterator" || name == "recursive_directory_iterator");
  }
  if (!isSystemDecl(f) || !f->getDeclName().isIdentifier() || isa<CXXMethodDecl>(f)) return false;
  return f->getName() == "opendir" || f->getName() == "scandir" || f->getName() == "glob";
}

}  // namespace

FileAccess::FileAccess(const Model& model) : model_(model) {
  for (const Root& r : model_.code.roots())
    if (r.in) forEachExpr(r.code, [this](const Expr* e) { find(e); });
  for (const Site& s : model_.sites.of(Role::Step))
    for (const Place& p : placesOf(s.call)) steps_.push_back(p);
  for (const Access& write : writes_)
    if (isVisible(write.call) && !inHandler(write.call) && llvm::any_of(reads_, [&](const Access& read) {
          return isVisible(read.call) && maySame(write, read) && mayFollow(read.call, write.call, true);
        }))
      writesAfterReads_.push_back(write.call);
  for (const Access& read : reads_) {
    bool ofStream = false;
    for (const Access& write : writes_) {
      if (!maySame(write, read) || !mayFollow(write.call, read.call, false)) continue;
      read_.insert(write.call);
      ofStream = ofStream || write.stream;
    }
    if (ofStream) readsOfStreams_.push_back(read.call);
  }
}

bool FileAccess::waitsIn(const Stmt* s) const {
  llvm::SmallPtrSet<const FunctionDecl*, 8> seen;
  return waitsIn(s, seen);
}

bool FileAccess::waitsIn(const Stmt* s, llvm::SmallPtrSetImpl<const FunctionDecl*>& seen) const {
  const auto within = [&](const Expr* e) { return isWithin(model_.code, e, s); };
  bool waits = llvm::any_of(writesAfterReads_, within) || llvm::any_of(readsOfStreams_, within);
  // What a stream writes is waited for where it is read.
  const auto done = [&](const Expr* e) { return read_.contains(e) && llvm::any_of(writes_, [&](const Access& write) { return write.call == e && !write.stream; }); };
  forEachExpr(s, [&](const Expr* e) {
    waits = waits || done(e);
    for (const FunctionDecl* f : model_.code.targets(e))
      if (const Function* known = !waits && seen.insert(f->getCanonicalDecl()).second ? model_.code.find(f) : nullptr) waits = waitsIn(known->body, seen);
  });
  return waits;
}

// A rank that has failed alone could not meet the others.
bool FileAccess::inHandler(const Expr* e) const {
  for (const Stmt* p = e; p; p = model_.code.parent(p))
    if (isa<CXXCatchStmt>(p)) return true;
  return false;
}

void FileAccess::find(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  if (!f) return;
  const auto arguments = argumentsOf(e);
  const auto given = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) ? arguments[i] : nullptr; };
  if (const Entry* entry = model_.context.dialect.lookup(f)) {
    if ((entry->role == Role::Save || entry->role == Role::Load) && model_.memory.concerns(e)) return;
    if (entry->role == Role::Save) writes_.push_back({e, given(entry->path), false});
    // A load whose result is its effect is done by the root, for all.
    const bool byAll = !e->getType()->isVoidType() || (entry->targets.empty() && !entry->object);
    if (entry->role == Role::Load && byAll && given(entry->path)) reads_.push_back({e, given(entry->path), false});
    if (entry->role == Role::NoEffect && given(entry->path)) reads_.push_back({e, given(entry->path), false});
    if (entry->role == Role::NoEffect && given(entry->folder)) reads_.push_back({e, given(entry->folder), false, true});
    return;
  }
  if (const auto opened = openedFile(e, model_.definitions)) {
    if (opened->writes) writes_.push_back({e, opened->path, true});
    if (!opened->writes || opened->mode) reads_.push_back({e, opened->path, false});
  }
  if (listsFolder(f)) reads_.push_back({e, nullptr, false});
  const HostRole role = hostRole(f);
  if (role == HostRole::FileChange) writes_.push_back({e, nullptr, false});
  if (role == HostRole::PictureWrite) writes_.push_back({e, given(0), false});
  if (role == HostRole::PictureRead) reads_.push_back({e, given(0), false});
}

bool FileAccess::maySame(const Access& write, const Access& read) const {
  if (!write.path || !read.path) return true;
  const auto ours = literals(model_.definitions, write.path), theirs = literals(model_.definitions, read.path);
  if (!ours || !theirs) return true;
  return llvm::any_of(*ours, [&](const auto& name) {
    if (!read.folder) return theirs->contains(name.getKey());
    const auto plain = [](llvm::StringRef path) { return path.starts_with("./") ? path.drop_front(2) : path; };
    return llvm::any_of(*theirs, [&](const auto& folder) { return !folder.getKey().empty() && plain(name.getKey()).starts_with(plain(folder.getKey())); });
  });
}

// The call itself, and the calls that lead to it, in the functions that hold them.
std::vector<FileAccess::Place> FileAccess::placesOf(const Expr* e) const {
  std::vector<Place> places = {{model_.code.functionOf(e), e}};
  llvm::SmallPtrSet<const FunctionDecl*, 8> seen;
  for (size_t i = 0; i < places.size(); ++i) {
    const FunctionDecl* f = places[i].function;
    if (!f || !seen.insert(f->getCanonicalDecl()).second) continue;
    for (const CallSite& c : model_.code.callers(f)) places.push_back({c.caller, c.call});
  }
  return places;
}

bool FileAccess::isVisible(const Expr* e) const {
  return !model_.threads.mayRun(e) && llvm::all_of(placesOf(e), [&](const Place& p) { return p.function && (p.function->isMain() || !model_.code.callers(p.function).empty()); });
}

bool FileAccess::comesBefore(const Stmt* first, const Stmt* then) const {
  for (const Stmt* loop : model_.sites.loopsAround(first))
    if (llvm::is_contained(model_.sites.loopsAround(then), loop)) return true;
  return model_.context.ast.getSourceManager().isBeforeInTranslationUnit(first->getBeginLoc(), then->getBeginLoc());
}

bool FileAccess::mayFollow(const Expr* first, const Expr* then, bool withoutStep) const {
  if (!isVisible(first) || !isVisible(then)) return true;
  const auto later = placesOf(then);
  for (const Place& a : placesOf(first))
    for (const Place& b : later)
      if (a.function && b.function && a.function->getCanonicalDecl() == b.function->getCanonicalDecl() && a.at != b.at &&
          comesBefore(a.at, b.at) && !(withoutStep && stepBetween(a, b)))
        return true;
  return false;
}

bool FileAccess::stepBetween(const Place& first, const Place& then) const {
  const SourceManager& sm = model_.context.ast.getSourceManager();
  const auto before = [&](const Stmt* a, const Stmt* b) { return sm.isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc()); };
  return llvm::any_of(steps_, [&](const Place& step) {
    if (!step.function || step.function->getCanonicalDecl() != first.function->getCanonicalDecl()) return false;
    // In a common loop `then` may be of the next round: on the way there is what follows `first` and what precedes `then`.
    if (before(then.at, first.at)) return before(first.at, step.at) || before(step.at, then.at);
    return before(first.at, step.at) && before(step.at, then.at);
  });
}

}  // namespace hvdize
