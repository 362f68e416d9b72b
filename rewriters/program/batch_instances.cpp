// SPDX-License-Identifier: Apache-2.0
// Templates that train in one instantiation and only read in another: `each_batch(x, y, 8, learn)` and `each_batch(x, y, 8, look)`. The text that
// cuts a batch is one, so what cuts it in one instantiation does in all.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The loop or expression of the same class at the same place in another tree; null where that has none.
const Stmt* twinOf(const Stmt* s, const Stmt* tree) {
  if (!tree) return nullptr;
  if (tree != s && tree->getStmtClass() == s->getStmtClass() && tree->getSourceRange() == s->getSourceRange()) return tree;
  for (const Stmt* c : tree->children())
    if (const Stmt* twin = twinOf(s, c)) return twin;
  return nullptr;
}

}  // namespace

void Batches::forEachTwin(const Stmt* s, const FunctionDecl* home, llvm::function_ref<void(const Stmt*, const FunctionDecl*)> found) const {
  const Function* known = home ? code_.find(home) : nullptr;
  if (!known) return;
  for (const Function& f : code_.functions())
    if (f.body != known->body && f.body->getBeginLoc() == known->body->getBeginLoc())
      if (const Stmt* twin = twinOf(s, f.body)) found(twin, f.decl);
}

void Batches::addInstances() {
  const std::vector<HandLoop> loops = handLoops_;
  for (const HandLoop& h : loops)
    forEachTwin(h.loop, h.function, [&](const Stmt* loop, const FunctionDecl* f) {
      if (llvm::none_of(handLoops_, [&](const HandLoop& other) { return other.loop == loop; })) handLoops_.push_back({loop, f, false});
    });
  if (loops.size() == handLoops_.size()) return;
  const std::vector<const Expr*> shards(shards_.begin(), shards_.end());
  for (const Expr* s : shards)
    forEachTwin(s, code_.functionOf(s), [&](const Stmt* twin, const FunctionDecl*) {
      const auto* e = cast<Expr>(twin);
      if (inStep(e) > 0 && shards_.insert(e)) twins_.insert(e);
    });
}

}  // namespace hvdize
