// SPDX-License-Identifier: Apache-2.0
// What belongs to a batch beside what its loss is made of. Rows that are cut as those of the batch are, for a metric, say.
// A batch that is cut where the step reads it, `net(shard(x))` of `for (auto& [x, y] : pairs)`, may be read again beside what the model made of it: in a
// metric, `(out.argmax(1) == y).sum()`. Those rows are this rank's, and so are the ones that they meet.
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/FoldingSet.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Whatever is cut out of a whole with the same extents in the same loop belongs to the same batch (labels that only a metric
// reads, say).
void Batches::addSiblings() {
  const SourceManager& sm = code_.context().getSourceManager();
  const LangOptions& lo = code_.context().getLangOpts();
  const auto extents = [&](const Expr* e) {
    std::string text;
    for (const Expr* a : argumentsOf(e))
      text += Lexer::getSourceText(CharSourceRange::getTokenRange(a->getSourceRange()), sm, lo).str() + ";";
    return text;
  };
  // The list that a call makes a tensor of, tensor(labels) or stack(rows).
  const auto listOf = [&](const Expr* e) -> const ValueDecl* {
    const Entry* entry = dialect_.lookup(e);
    const auto arguments = argumentsOf(e);
    if (!entry || entry->role != Role::Op || arguments.empty()) return nullptr;
    const bool joins = entry->op == OpKind::Concat && (dimensionOf(e, *entry, code_.context()).value_or(0) == 0 || liesSecond(e));
    if (!joins && (entry->op != OpKind::Factory || entry->shape >= 0)) return nullptr;
    const Expr* data = strip(arguments[0]);
    for (const auto* k = dyn_cast<CXXConstructExpr>(data); k && !isStdRecord(k->getType()) && k->getNumArgs() > 0; k = dyn_cast<CXXConstructExpr>(data))
      data = strip(k->getArg(0));
    return isa<DeclRefExpr>(data) && isStdRecord(data->getType()) ? declOf(data) : nullptr;
  };
  // Of one function: `sample()`, say, whose calls the loops make.
  const auto inOneLoop = [&](const Expr* a, const Expr* b) {
    return llvm::any_of(handLoops_, [&](const HandLoop& h) { return inBody(a, h.loop) ? inBody(b, h.loop) : belongs(a, h.loop) && belongs(b, h.loop); });
  };
  std::vector<const Expr*> known(shards_.begin(), shards_.end());
  known.insert(known.end(), copiedCuts_.begin(), copiedCuts_.end());
  for (const Site& s : sites_.of(Role::Op)) {
    if (const ValueDecl* list = shards_.count(s.call) ? nullptr : listOf(s.call))
      if (llvm::any_of(known, [&](const Expr* k) { return listOf(k) == list && code_.functionOf(k) == s.function && inOneLoop(k, s.call); })) shards_.insert(s.call);
    if (s.entry->op != OpKind::Select || shards_.count(s.call) || copiedCuts_.count(s.call)) continue;
    if (dimensionOf(s.call, *s.entry, code_.context()).value_or(0) != 0 || isChangedThere(code_, dialect_, s.call)) continue;
    for (const Expr* k : known) {
      const Entry* other = dialect_.lookup(k);
      if (other && other->op == OpKind::Select && code_.functionOf(k) == s.function && extents(k) == extents(s.call) &&
          extents(k).size() > 1 && inOneLoop(k, s.call))
        shards_.insert(s.call);
    }
  }
}

// Goes the value of this mention, through operations of the framework and variables, into the model, or to where rows of its outputs meet it?
bool Batches::meetsOutputs(const Expr* mention, unsigned depth) const {
  if (depth > 4) return false;
  for (const Stmt* p = code_.parent(mention); p; p = code_.parent(p)) {
    if (const auto* ds = dyn_cast<DeclStmt>(p)) {
      const VarDecl* v = nullptr;
      for (const Decl* d : ds->decls())
        if (const auto* x = dyn_cast<VarDecl>(d); x && x->getInit() && isWithin(code_, mention, x->getInit())) v = x;
      return v && dialect_.is(v->getType().getNonReferenceType(), Role::Tensor) && definitions_.of(v).size() == 1 &&
             llvm::any_of(definitions_.uses(v), [&](const Expr* use) { return meetsOutputs(use, depth + 1); });
    }
    const auto* e = dyn_cast<Expr>(p);
    if (!e || isa<LambdaExpr>(e)) return false;
    if (calleeOf(e) && !isa<CXXConstructExpr>(e)) {
      const auto forward = [&](const FunctionDecl* f) { return sites_.functionReaches(f, Role::Forward); };
      if (dialect_.is(e, Role::Forward) || llvm::any_of(code_.targets(e), forward)) return true;
      llvm::SmallVector<const Expr*, 4> others = argumentsOf(e);
      if (const Expr* object = objectOf(e)) others.push_back(object);
      for (const Expr* other : others) {
        llvm::DenseSet<const ValueDecl*> seen;
        if (!isWithin(code_, mention, other) && dialect_.is(other->getType().getNonReferenceType(), Role::Tensor) && comesFromModel(other, definitions_, sites_, seen)) return true;
      }
      const Entry* entry = dialect_.lookup(e);
      if (!entry || entry->role != Role::Op || !dialect_.is(e->getType().getNonReferenceType(), Role::Tensor)) return false;
    }
  }
  return false;
}

// `{x.index_select(0, at), y.index_select(0, at)}`: do both fields get rows of data by the same positions, whatever gives them any?
bool Batches::haveSameRows(const ValueDecl* known, const ValueDecl* other) const {
  const auto select = [&](const Definition& def) -> const Expr* {
    const Expr* made = def.value && !def.compound && !def.through ? strip(def.value) : nullptr;
    while (const auto* k = dyn_cast_or_null<CXXConstructExpr>(made)) made = argumentsOf(k).size() == 1 ? strip(argumentsOf(k)[0]) : nullptr;
    const Entry* entry = made && calleeOf(made) ? dialect_.lookup(made) : nullptr;
    return entry && entry->role == Role::Op && entry->op == OpKind::Select && objectOf(made) && !argumentsOf(made).empty() && dimensionOf(made, *entry, code_.context()).value_or(0) == 0 ? made : nullptr;
  };
  const auto alike = [&](const Expr* a, const Expr* b) {
    if (calleeName(a) != calleeName(b) || argumentsOf(a).size() != argumentsOf(b).size()) return false;
    llvm::FoldingSetNodeID x, y;
    for (const Expr* e : argumentsOf(a)) strip(e)->Profile(x, code_.context(), true);
    for (const Expr* e : argumentsOf(b)) strip(e)->Profile(y, code_.context(), true);
    return x == y;
  };
  const auto given = definitions_.of(other), before = definitions_.of(known);
  return !given.empty() && llvm::all_of(given, [&](const Definition& def) {
    const Expr* made = select(def);
    return made && llvm::any_of(before, [&](const Definition& k) { const Expr* cut = select(k); return cut && alike(cut, made); });
  });
}

// The list that a call makes rows of, one for each item: stack(rows), tensor(numbers). The list may be a member.
const ValueDecl* Batches::listStacked(const Expr* made) const {
  made = strip(made);
  while (const Expr* object = calleeOf(made) ? objectOf(made) : nullptr) {  // tensor(actions).to(kInt64)
    const Entry* entry = dialect_.lookup(made);
    if (!entry || entry->role != Role::Op || (entry->op != OpKind::Elementwise && entry->op != OpKind::Reshape)) return nullptr;
    made = strip(object);
  }
  const Entry* entry = calleeOf(made) ? dialect_.lookup(made) : nullptr;
  const auto given = argumentsOf(made);
  if (!entry || entry->role != Role::Op || given.empty()) return nullptr;
  const bool stacks = entry->op == OpKind::Concat && calleeName(made) == "stack" && dimensionOf(made, *entry, code_.context()).value_or(0) == 0;
  if (!stacks && (entry->op != OpKind::Factory || entry->shape >= 0)) return nullptr;
  const Expr* list = strip(given[0]);
  for (const auto* k = dyn_cast<CXXConstructExpr>(list); k && !isStdRecord(k->getType()) && k->getNumArgs() > 0; k = dyn_cast<CXXConstructExpr>(list)) list = strip(k->getArg(0));
  return isa<DeclRefExpr, MemberExpr>(list) && isStdRecord(list->getType()) ? declOf(list) : nullptr;
}

// Do both lists get an item whenever one of them does?
bool Batches::growAlike(const ValueDecl* a, const ValueDecl* b) const {
  const auto added = [&](const ValueDecl* list) {
    std::vector<const Stmt*> blocks;
    for (const Expr* use : definitions_.uses(list)) {
      if (!addsTo(use, list)) continue;
      const Stmt* s = use;
      while (s && !isa<CompoundStmt>(s)) s = code_.parent(s);
      blocks.push_back(s);
    }
    llvm::sort(blocks);
    return blocks;
  };
  const auto blocks = added(a);
  return !blocks.empty() && blocks == added(b);
}

void Batches::addMentions() {
  ASTContext& context = code_.context();
  const auto profile = [&](const Expr* e) {
    llvm::FoldingSetNodeID id;
    e->Profile(id, context, true);
    return id;
  };
  const std::vector<const Expr*> known(shards_.begin(), shards_.end());
  // What the model said of the samples when they were collected, beside what it says of them now: stack(log_probabilities).
  for (const Site& s : sites_.of(Role::Op)) {
    const ValueDecl* list = inStep(s.call) > 0 && !shards_.count(s.call) && calleeOf(s.call) ? listStacked(s.call) : nullptr;
    if (!list || objectOf(s.call) || llvm::any_of(known, [&](const Expr* k) { return isWithin(code_, s.call, k); })) continue;
    const auto sister = [&](const Expr* k) {
      const ValueDecl* other = code_.functionOf(k) == s.function ? listStacked(k) : nullptr;
      return other && other != list && growAlike(other, list);
    };
    if (llvm::any_of(known, sister) && meetsOutputs(s.call)) shards_.insert(s.call);
  }
  for (const HandLoop& h : handLoops_) {
    const Stmt* body = loopBody(h.loop);
    std::vector<std::pair<llvm::FoldingSetNodeID, const Expr*>> read;
    const auto ofElement = [&](const Expr* k) {
      const auto* m = dyn_cast<MemberExpr>(strip(k));
      const auto itself = [&](const Expr* x) { return isa<DeclRefExpr>(strip(x)) && declOf(x) && isLoopElement(declOf(x)); };
      return isPartOfElement(k) || isPartOfHanded(k) || isElement(k) || itself(k) || (m && (isElement(m->getBase()) || itself(m->getBase())));
    };
    for (const Expr* k : known)
      if (ofElement(k) && isWithin(code_, k, body)) read.emplace_back(profile(strip(k)), strip(k));
    if (read.empty()) continue;
    forEachExpr(body, [&](const Expr* x) {
      if (x != strip(x) || !dialect_.is(x->getType().getNonReferenceType(), Role::Tensor) || shards_.count(x)) return;
      const auto id = profile(x);
      const auto* m = dyn_cast<MemberExpr>(x);
      const auto field = [&](const Expr* k) {  // another one of the same batch
        const auto* known = dyn_cast<MemberExpr>(k);
        return m && known && profile(strip(m->getBase())) == profile(strip(known->getBase())) && haveSameRows(known->getMemberDecl(), m->getMemberDecl());
      };
      if (llvm::none_of(read, [&](const auto& r) { return (r.first == id && r.second != x) || field(r.second); })) return;
      if (llvm::any_of(shards_, [&](const Expr* s) { return isWithin(code_, x, s) || isWithin(code_, s, x); })) return;
      // states = states.to(device): the variable has this rank's rows from there on.
      const auto gives = [&](const Definition& def) {
        return def.value && !givesPart(code_, def.value) && llvm::any_of(known, [&](const Expr* k) { return isa<DeclRefExpr>(strip(k)) && declOf(k) == declOf(x) && isWithin(code_, k, def.value); });
      };
      if (isa<DeclRefExpr>(x) && llvm::any_of(definitions_.of(declOf(x)), gives)) return;
      if (inStep(x) > 0 && !isChangedThere(code_, dialect_, x) && meetsOutputs(x)) shards_.insert(x);
    });
  }
}

}  // namespace hvdize
