// SPDX-License-Identifier: Apache-2.0
// A step may draw points of several kinds, `rand({inside, 2})` and `rand({boundary, 2})` of a network that solves a differential equation, or make a
// few numbers that belong to no sample. One of these is the batch. The others are the same on all ranks, and no rows of it.
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/StringSet.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

/// A number of rows as far as the program says it: a constant, what the command line gives, or the one where the other is left out.
struct Count {
  std::optional<uint64_t> number;
  std::optional<llvm::FoldingSetNodeID> source;
  bool differs(const Count& o) const {
    if (source && o.source) return *source != *o.source;
    return number != o.number;  // where one of them is left out, it may be the other
  }
};

// The call that makes a number of an argument: std::stoi(argv[1]).
bool readsArgument(const Expr* e) {
  static const llvm::StringSet<> kReaders = {"atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul", "stoull", "strtol", "strtoll", "strtoul"};
  return isa<CallExpr>(e) && calleeOf(e) && kReaders.contains(calleeName(e));
}

// Is this the number, as it is or as an optional one?
bool isNumberOf(const Expr* e, uint64_t wanted) {
  e = strip(e);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  const auto* i = dyn_cast<IntegerLiteral>(e);
  return i && i->getValue() == wanted;
}

std::optional<Count> countOf(const Expr* e, const Definitions& definitions, ASTContext& context, unsigned depth = 0) {
  e = e ? strip(e) : nullptr;
  if (!e || depth > 8) return std::nullopt;
  if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1) return countOf(argumentsOf(k)[0], definitions, context, depth + 1);  // an optional number
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return countOf(cast->getSubExpr(), definitions, context, depth + 1);
  if (const auto* i = dyn_cast<IntegerLiteral>(e)) return Count{i->getValue().getZExtValue(), std::nullopt};
  if (readsArgument(e)) {
    Count read;
    read.source.emplace();
    e->Profile(*read.source, context, true);
    return read;
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const auto yes = countOf(c->getTrueExpr(), definitions, context, depth + 1), no = countOf(c->getFalseExpr(), definitions, context, depth + 1);
    if (!yes || !no || (yes->source && no->source) || (!yes->source && !no->source)) return std::nullopt;
    return Count{yes->source ? no->number : yes->number, yes->source ? yes->source : no->source};
  }
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
  const auto given = d ? definitions.of(d) : llvm::ArrayRef<Definition>();
  return given.size() == 1 && given[0].value && !given[0].compound && !given[0].through ? countOf(given[0].value, definitions, context, depth + 1) : std::nullopt;
}

}  // namespace

// The rows of a draw or a new tensor that stands in a step; null for what is cut out of data.
const Expr* Batches::rowsMade(const Expr* shard) const {
  const Entry* entry = calleeOf(shard) ? dialect_.lookup(shard) : nullptr;
  const auto arguments = argumentsOf(shard);
  // randperm(8).slice(0, 0, 6): columns, say
  const Expr* drawn = entry && entry->op == OpKind::Select && calleeName(shard) == "slice" && arguments.size() > 2 && objectOf(shard) ? strip(objectOf(shard)) : nullptr;
  if (drawn && calleeOf(drawn) && dialect_.is(drawn, Role::RandomDraw) && isNumberOf(arguments[1], 0)) return arguments[2];
  if (!entry || (entry->role != Role::RandomDraw && entry->op != OpKind::Factory) || entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return nullptr;
  const auto list = extentsOf(arguments[entry->shape]);
  return list && !list->empty() ? list->front() : nullptr;
}

// The size of the batches that a loop cuts out of data: by which it moves on, or `size` of x.slice(0, at, at + size) and x.narrow(0, at, size).
const Expr* Batches::sizeOfCut(const Stmt* loop, const Expr* shard) const {
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* inc = f && f->getInc() ? dyn_cast<BinaryOperator>(f->getInc()->IgnoreParens()) : nullptr;
  if (inc && inc->getOpcode() == BO_AddAssign && !isNumberOf(inc->getRHS(), 1)) return inc->getRHS();  // `step += 1` counts steps
  const auto arguments = argumentsOf(shard);
  if (arguments.size() < 3 || !calleeOf(shard) || !dialect_.lookup(shard)) return nullptr;
  if (calleeName(shard) == "narrow") return arguments.back();
  const auto* sum = calleeName(shard) == "slice" ? dyn_cast<BinaryOperator>(strip(arguments[arguments.size() > 3 ? arguments.size() - 2 : 2])) : nullptr;
  return sum && sum->getOpcode() == BO_Add ? sum->getRHS() : nullptr;
}

// stack(kept), where the list is there before the loop and no step empties it or makes it anew: rows that each step rehearses.
bool Batches::isKeptBeside(const Stmt* loop, const Expr* shard) const {
  const Entry* entry = calleeOf(shard) ? dialect_.lookup(shard) : nullptr;
  const auto arguments = argumentsOf(shard);
  if (!entry || entry->op != OpKind::Concat || arguments.empty()) return false;
  const Expr* list = strip(arguments[0]);
  const auto* v = isa<DeclRefExpr>(list) ? dyn_cast_or_null<VarDecl>(declOf(list)) : nullptr;
  const DeclStmt* declared = v && !isa<ParmVarDecl>(v) && isStdRecord(v->getType()) ? code_.declStmt(v) : nullptr;
  // A function that steps call has a list of its own each time.
  if (!declared || isWithin(code_, declared, loop) || code_.functionOf(declared) != code_.functionOf(loop)) return false;
  return llvm::none_of(definitions_.uses(v), [&](const Expr* use) {
    const auto* m = dyn_cast_or_null<MemberExpr>(code_.parent(use));
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(code_.parent(use));
    const llvm::StringRef name = m && m->getMemberDecl()->getDeclName().isIdentifier() ? m->getMemberDecl()->getName() : "";
    const bool anew = (o && o->isAssignmentOp()) || llvm::is_contained({"clear", "assign", "resize", "swap", "erase", "pop_back", "pop_front"}, name);
    return anew && isWithin(code_, use, loop);
  });
}

void Batches::dropKeptRows() {
  for (const HandLoop& h : handLoops_) {
    llvm::SmallVector<const Expr*, 4> kept;
    bool cut = false;
    for (const Expr* s : shards_) {
      if (inStep(s) == 0 || !belongs(s, h.loop)) continue;
      if (isKeptBeside(h.loop, s)) kept.push_back(s);
      else cut = cut || sizeOfCut(h.loop, s);
    }
    if (cut)
      for (const Expr* s : kept) shards_.remove(s);
  }
}

void Batches::dropOtherSizes() {
  for (const HandLoop& h : handLoops_) {
    llvm::SmallVector<std::pair<const Expr*, Count>, 8> made;
    std::optional<Count> batch;
    bool cut = false;  // the batch is one of data
    for (const Expr* s : shards_) {
      if (inStep(s) == 0 || !belongs(s, h.loop)) continue;
      const Expr* rows = rowsMade(s);
      const auto count = countOf(rows ? rows : sizeOfCut(h.loop, s), definitions_, code_.context());
      if (rows && count) made.emplace_back(s, *count);
      if (!rows) cut = true, batch = batch ? batch : count;
    }
    // Of draws alone: that whose number is given from outside, else the largest.
    if (!cut)
      for (const auto& [s, count] : made)
        if (!batch || (count.source && !batch->source) || (!count.source && !batch->source && count.number > batch->number)) batch = count;
    for (const auto& [s, count] : made)
      if (batch && count.differs(*batch)) shards_.remove(s);
  }
}

}  // namespace hvdize
