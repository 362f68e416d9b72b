// SPDX-License-Identifier: Apache-2.0
// How many rows what forms a batch gives it: the expression of that number.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

// Of `parts`, the pieces of x.split(size) or one of them, the size; of positions, the number of draws in multinomial(weights, n).
const Expr* Model::sizeMade(const Expr* parts, llvm::StringRef by) const {
  for (const Expr* o : definitions.origins(parts)) {
    const auto arguments = argumentsOf(o);
    const unsigned at = objectOf(o) ? 0 : 1;
    if (calleeName(o) == by && context.dialect.lookup(o) && at < arguments.size() && arguments[at]->getType()->isIntegerType()) return arguments[at];
  }
  return nullptr;
}

// Of `b * size` and `(b + 1) * size`, `min((b + 1) * size, n)`: the size, where a variable holds it.
static const Expr* sizeOfEach(const Expr* begin, const Expr* end) {
  const auto isProduct = [](const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(strip(e));
    return b && b->getOpcode() == BO_Mul ? b : nullptr;
  };
  const auto* first = isProduct(begin);
  const Expr* size = nullptr;
  if (!first) return nullptr;
  const auto isNext = [](const Expr* e, const ValueDecl* number) {
    const auto* sum = dyn_cast<BinaryOperator>(strip(e));
    if (!sum || sum->getOpcode() != BO_Add || !number) return false;
    const auto isOne = [](const Expr* x) {
      const auto* i = dyn_cast<IntegerLiteral>(strip(x));
      return i && i->getValue() == 1;
    };
    return (declOf(sum->getLHS()) == number && isOne(sum->getRHS())) || (declOf(sum->getRHS()) == number && isOne(sum->getLHS()));
  };
  forEachExpr(end, [&](const Expr* x) {
    const auto* next = isProduct(x);
    if (!next || size) return;
    for (const auto& [number, each] : {std::pair(first->getLHS(), first->getRHS()), std::pair(first->getRHS(), first->getLHS())})
      for (const auto& [sum, again] : {std::pair(next->getLHS(), next->getRHS()), std::pair(next->getRHS(), next->getLHS())})
        if (declOf(each) && declOf(each) == declOf(again) && isNext(sum, declOf(number))) size = again;
  });
  return size;
}

// The terms of a sum, in the order of the text, each as what can be compared.
static void addTerms(const Expr* e, const ASTContext& context, llvm::SmallVectorImpl<std::pair<llvm::FoldingSetNodeID, const Expr*>>& out) {
  const Expr* term = strip(e);
  if (const auto* sum = dyn_cast<BinaryOperator>(term); sum && sum->getOpcode() == BO_Add) {
    addTerms(sum->getLHS(), context, out);
    addTerms(sum->getRHS(), context, out);
    return;
  }
  llvm::FoldingSetNodeID id;
  term->Profile(id, context, true);
  out.emplace_back(id, term);
}

// Of `first + at` and `first + at + n`: n. Null where the second sum has not one term more than the first.
static const Expr* termAdded(const Expr* begin, const Expr* sum, const ASTContext& context) {
  llvm::SmallVector<std::pair<llvm::FoldingSetNodeID, const Expr*>, 4> before, after;
  addTerms(begin, context, before);
  addTerms(sum, context, after);
  const auto* product = dyn_cast<BinaryOperator>(strip(begin));  // `k * batch`: one term, and no variable
  if (before.size() < (product && product->getOpcode() == BO_Mul ? 1u : 2u) || after.size() != before.size() + 1) return nullptr;
  for (const auto& [id, term] : before) {
    const auto same = llvm::find_if(after, [&, &known = id](const auto& t) { return t.first == known; });
    if (same == after.end()) return nullptr;
    after.erase(same);
  }
  return after.front().second;
}

// `from = at; at = std::min(at + n, rows);` or `at += n;`, and then [from, at): n. A cursor that has moved on when the batch is cut.
const Expr* Model::sizeMoved(const ValueDecl* start, const Expr* end) const {
  const auto* from = dyn_cast_or_null<VarDecl>(start);
  const auto held = from && from->isLocalVarDecl() ? definitions.of(from) : llvm::ArrayRef<Definition>();
  if (held.size() != 1 || !held[0].value || held[0].compound || held[0].through) return nullptr;
  const Expr* old = strip(held[0].value);
  const Expr* next = nullptr;
  if (calleeName(old) == "exchange" && calleeOf(old) && isSystemDecl(calleeOf(old)) && argumentsOf(old).size() == 2) next = argumentsOf(old)[1], old = argumentsOf(old)[0];
  const ValueDecl* cursor = isa<DeclRefExpr, MemberExpr>(strip(old)) ? declOf(old) : nullptr;
  if (!cursor || cursor != declOf(end)) return nullptr;
  const Expr* rows = nullptr;
  const auto look = [&](const Expr* value) {
    forEachExpr(value, [&](const Expr* x) {
      const auto* sum = dyn_cast<BinaryOperator>(x);
      if (!sum || sum->getOpcode() != BO_Add || rows) return;
      for (const auto& [one, other] : {std::pair(sum->getLHS(), sum->getRHS()), std::pair(sum->getRHS(), sum->getLHS())})
        if (!rows && (declOf(one) == cursor || declOf(one) == start)) rows = other;
    });
  };
  if (next) return look(next), rows;
  const SourceManager& sm = code.context().getSourceManager();
  for (const Definition& def : definitions.of(cursor)) {
    if (!def.value || code.functionOf(def.value) != code.functionOf(end) || !sm.isBeforeInTranslationUnit(from->getLocation(), def.value->getBeginLoc())) continue;
    const Stmt* p = code.parent(def.value);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code.parent(p);
    const auto* change = dyn_cast_or_null<BinaryOperator>(p);
    if (def.compound && change && change->getOpcode() == BO_AddAssign && !rows) rows = def.value;
    else if (!def.compound) look(def.value);
  }
  return rows;
}

// [i, i + n), [i, std::min(i + n, rows)), and the same through a variable: n.
const Expr* Model::sizeBetween(const Expr* begin, const Expr* end) const {
  if (isLiteralZero(begin)) return end;  // of rows in a new order, the first ones
  if (const Expr* each = sizeOfEach(begin, end)) return each;
  const ValueDecl* start = declOf(begin);
  const Expr* rows = nullptr;
  const auto look = [&](auto&& self, const Expr* e, int depth) -> void {
    forEachExpr(e, [&](const Expr* x) {
      const auto* sum = dyn_cast<BinaryOperator>(x);
      if (sum && sum->getOpcode() == BO_Add && !start && !rows) rows = termAdded(begin, sum, code.context());
      if (sum && sum->getOpcode() == BO_Add && start && !rows) {
        if (declOf(sum->getLHS()) == start) rows = sum->getRHS();
        else if (declOf(sum->getRHS()) == start) rows = sum->getLHS();
      }
      const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      if (d && depth < 3 && !rows && d != start)
        for (const Definition& def : definitions.of(d))
          if (def.value) self(self, def.value, depth + 1);
    });
  };
  look(look, end, 0);
  return rows ? rows : sizeMoved(start, end);
}

// In `order.begin() + i`, the position i; the whole where it is none, and null where nothing is added.
static const Expr* positionIn(const Expr* iterator) {
  const Expr* e = strip(iterator);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  const auto* sum = dyn_cast<CXXOperatorCallExpr>(e);
  return sum && sum->getOperator() == OO_Plus && sum->getNumArgs() == 2 ? strip(sum->getArg(1)) : nullptr;
}

// last - first, std::distance(first, last): the two iterators or pointers.
static std::optional<std::pair<const Expr*, const Expr*>> distanceIn(const Expr* e) {
  e = strip(e);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Sub && b->getLHS()->getType()->isPointerType()) return std::pair(b->getRHS(), b->getLHS());
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Minus && o->getNumArgs() == 2 && isIterator(o->getArg(0)->getType()) && isIterator(o->getArg(1)->getType()))
    return std::pair(o->getArg(1), o->getArg(0));
  if (isa<CallExpr>(e) && calleeOf(e) && isSystemDecl(calleeOf(e)) && calleeName(e) == "distance" && argumentsOf(e).size() == 2) return std::pair(argumentsOf(e)[0], argumentsOf(e)[1]);
  return std::nullopt;
}

// Of `last = first + n`, `std::next(first, n)`, `std::advance(last, n)`, `last += n`: n. Null where it is not to be seen: a distance is no size itself.
const Expr* Model::sizeSpanned(const Expr* first, const Expr* last) const {
  const ValueDecl* start = declOf(strip(first));
  const auto* end = dyn_cast_or_null<VarDecl>(declOf(strip(last)));
  if (!start || !end || !end->isLocalVarDecl()) return nullptr;
  const Expr* size = nullptr;
  const auto from = [&](const Expr* a) { return declOf(strip(a)) == start; };
  for (const Definition& def : definitions.of(end))
    if (def.value)
      forEachExpr(def.value, [&](const Expr* x) {
        const auto* sum = dyn_cast<BinaryOperator>(x);
        const auto* o = dyn_cast<CXXOperatorCallExpr>(x);
        const auto given = isa<CallExpr>(x) && !o ? argumentsOf(x) : llvm::SmallVector<const Expr*, 4>();
        if (size) return;
        if (sum && sum->getOpcode() == BO_Add && from(sum->getLHS())) size = sum->getRHS();
        if (o && o->getOperator() == OO_Plus && o->getNumArgs() == 2 && from(o->getArg(0))) size = strip(o->getArg(1));
        if (calleeName(x) == "next" && given.size() == 2 && from(given[0])) size = given[1];
      });
  for (const Expr* use : definitions.uses(end)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    const auto* b = dyn_cast_or_null<CompoundAssignOperator>(p);
    const auto given = call && calleeOf(call) ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
    if (!size && b && b->getOpcode() == BO_AddAssign && strip(b->getLHS()) == strip(use)) size = b->getRHS();
    if (!size && call && calleeName(call) == "advance" && given.size() == 2 && strip(given[0]) == strip(use)) size = given[1];
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    if (!size && o && o->getOperator() == OO_PlusEqual && strip(o->getArg(0)) == strip(use)) size = strip(o->getArg(1));
  }
  return size;
}

// tensor(numbers), where the numbers are a piece of a list: vector(order.begin() + i, order.begin() + i + n).
const Expr* Model::sizeOfPiece(const Expr* numbers) const {
  for (const Expr* o : definitions.origins(numbers)) {
    const auto* k = dyn_cast<CXXConstructExpr>(o);
    const auto given = k && isStdRecord(k->getType()) ? argumentsOf(k) : llvm::SmallVector<const Expr*, 4>();
    if (given.size() < 2) continue;
    const Expr *begin = positionIn(given[0]), *end = positionIn(given[1]);
    if (begin && end)
      if (const Expr* size = sizeBetween(begin, end)) return size;
    if (!begin && !end && isIterator(given[0]->getType()))
      if (const Expr* size = sizeSpanned(given[0], given[1])) return size;
  }
  return nullptr;
}

static bool isDraw(const Expr* e, const Dialect& dialect) {
  const FunctionDecl* f = calleeOf(e);
  const Expr* object = f ? objectOf(e) : nullptr;
  return f && (dialect.is(e, Role::RandomDraw) || hostRole(f) == HostRole::DrawsC || (object && (isRandomEngine(object->getType()) || isDistribution(object->getType()))));
}

// May the expression have another value in another step: is it drawn in `inner`, or made from what loops around that advance? What was drawn before
// (`order[i]`) has a length of its own.
bool Model::movesOn(const Expr* e, const Stmt* inner, unsigned depth) const {
  if (depth > 4) return false;
  bool moves = false;
  const bool here = depth == 0 || isWithin(code, e, inner);
  forEachExpr(e, [&](const Expr* x) {
    if (moves) return;
    if (here && isDraw(x, context.dialect)) moves = true;
    if (here)
      for (const FunctionDecl* target : code.targets(x))
        if (const Function* known = code.find(target)) moves = moves || drawsIn(known->body, depth + 1);
    if (const auto* m = here ? dyn_cast<MemberExpr>(x) : nullptr; m && isa<CXXThisExpr>(strip(m->getBase()))) moves = goesOnFrom(m->getMemberDecl(), inner);
    const auto* v = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    if (!v || isa<ParmVarDecl>(v)) {
      if (v)
        for (const Definition& def : definitions.of(v)) moves = moves || (def.value && movesOn(def.value, inner, depth + 1));
      return;
    }
    // An iterator that goes on in the loop, from where the step before left it.
    const auto goesOn = [&](const Expr* use) {
      const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(code.parent(use));
      return o && o->getOperator() == OO_PlusPlus && isWithin(code, o, inner);
    };
    if (llvm::any_of(definitions.uses(v), goesOn))
      for (const HandLoop& h : batches.handLoops()) {
        const bool begins = llvm::any_of(definitions.of(v), [&](const Definition& def) { return !def.compound && (!def.value || batches.inBody(def.value, h.loop)); });
        moves = moves || (batches.inBody(inner, h.loop) && !begins);
      }
    for (const Definition& def : definitions.of(v)) {
      const bool own = def.value ? isWithin(code, def.value, inner) : code.declStmt(v) && isWithin(code, code.declStmt(v), inner);
      if (def.compound || !def.value) moves = moves || !own;
      else moves = moves || movesOn(def.value, inner, depth + 1);
    }
  });
  return moves;
}

bool Model::drawsIn(const Stmt* body, unsigned depth) const {
  bool moves = false;
  forEachExpr(body, [&](const Expr* x) {
    moves = moves || isDraw(x, context.dialect);
    if (!moves && depth < 4)
      for (const FunctionDecl* target : code.targets(x))
        if (const Function* known = code.find(target)) moves = moves || drawsIn(known->body, depth + 1);
  });
  return moves;
}

// `i < offsets.size(0)`: as many as there are positions, whose number is traced where they are drawn.
const Expr* Model::positionsCounted(const Expr* size) const {
  const auto made = definitions.origins(size);
  for (const Expr* o : made) {
    const Entry* entry = calleeOf(o) ? context.dialect.lookup(o) : nullptr;
    if (entry && entry->role == Role::Op && (entry->op == OpKind::Size || entry->op == OpKind::ElementCount)) return made.size() == 1 && objectOf(o) ? objectOf(o) : size;
  }
  return nullptr;
}

// A list that a loop fills, one item in each round: stack(rows) with `for (i = 0; i < n; ++i) rows.push_back(x[draw()])`. How many rounds there are; null
// where that is not to be seen.
const Expr* Model::sizeCollected(const Expr* list) const {
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(list));
  if (const auto* p = dyn_cast_or_null<ParmVarDecl>(v)) {
    const auto given = definitions.of(p);
    const auto same = [&](const Definition& def) { return def.value && !def.compound && declOf(def.value) != p && declOf(def.value) == declOf(given[0].value); };
    return !given.empty() && given[0].value && declOf(given[0].value) && llvm::all_of(given, same) ? sizeCollected(given[0].value) : nullptr;
  }
  if (!v || !v->isLocalVarDecl() || !isStdRecord(v->getType())) return nullptr;
  const Expr* size = nullptr;
  unsigned pushes = 0;
  for (const Expr* use : definitions.uses(v)) {
    const Stmt* p = code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code.parent(p);
    const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
    if (!call || !objectOf(call) || declOf(objectOf(call)) != v || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) continue;
    ++pushes;
    const Stmt* around = call;
    for (around = code.parent(around); around && (isa<Expr>(around) || isa<CompoundStmt>(around)); around = code.parent(around)) {}
    if (const Expr* enough = around ? sizeThatSteps(around, v) : nullptr) {
      size = enough;
      continue;
    }
    if (const auto* each = dyn_cast_or_null<CXXForRangeStmt>(around)) {
      if (!(size = sizeVisited(each->getRangeInit()))) return nullptr;
      continue;
    }
    // while (rows.size() < n), for (; at < end && rows.size() < n; ++at): until there are that many
    if (const Expr* until = around ? sizeReached(around, v) : nullptr) {
      if (!movesOn(call->getArg(0), around, 0)) return nullptr;
      size = until;
      continue;
    }
    if (isa_and_nonnull<WhileStmt>(around)) return nullptr;
    const auto* loop = dyn_cast_or_null<ForStmt>(around);
    const auto* start = loop ? dyn_cast_or_null<DeclStmt>(loop->getInit()) : nullptr;
    const auto* i = start && start->isSingleDecl() ? dyn_cast<VarDecl>(start->getSingleDecl()) : nullptr;
    const auto moves = [&](auto&& self, const Expr* inc) -> bool {  // ++i, ++it
      const auto* comma = dyn_cast<BinaryOperator>(inc->IgnoreParenImpCasts());
      if (comma && comma->getOpcode() == BO_Comma) return self(self, comma->getLHS()) || self(self, comma->getRHS());
      const auto* next = dyn_cast<UnaryOperator>(inc->IgnoreParenImpCasts());
      return next && next->isIncrementOp() && declOf(next->getSubExpr()) == i;
    };
    if (!i || !i->getInit() || !loop->getCond() || !loop->getInc() || !moves(moves, loop->getInc())) return nullptr;
    const auto ends = [&](auto&& self, const Expr* condition) -> const Expr* {
      const auto* b = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
      if (b && b->getOpcode() == BO_LAnd) {
        const Expr* first = self(self, b->getLHS());
        return first ? first : self(self, b->getRHS());
      }
      if (!b || (b->getOpcode() != BO_LT && b->getOpcode() != BO_NE) || declOf(b->getLHS()) != i) return nullptr;
      return sizeBetween(i->getInit(), b->getRHS());
    };
    size = ends(ends, loop->getCond());
    if (const Expr* positions = size ? positionsCounted(size) : nullptr) {
      if (!(size = sizeVisited(positions))) return nullptr;
      continue;
    }
    // x[i] for all i from zero on are the same rows in every step: there, the number is that of all samples.
    if (isLiteralZero(i->getInit()) && !movesOn(call->getArg(0), loop, 0)) return nullptr;
  }
  return pushes == 1 ? size : nullptr;
}

// n of `rows.size()`, where a loop of the step puts n rows into the list, also in front of the call that gets it. A list that was there before is all data.
const Expr* Model::sizeCollectedInStep(const Expr* rows) const {
  rows = strip(rows);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(rows)) rows = strip(cast->getSubExpr());
  const Expr* list = calleeName(rows) == "size" && objectOf(rows) && isStdRecord(objectOf(rows)->getType().getNonReferenceType()) ? objectOf(rows) : nullptr;
  const auto* v = list ? dyn_cast_or_null<VarDecl>(declOf(list)) : nullptr;
  for (unsigned depth = 0; depth < 4 && isa_and_nonnull<ParmVarDecl>(v); ++depth) {
    const auto given = definitions.of(v);
    v = given.size() == 1 && given[0].value ? dyn_cast_or_null<VarDecl>(declOf(given[0].value)) : nullptr;
  }
  const DeclStmt* declared = v && v->isLocalVarDecl() ? code.declStmt(v) : nullptr;
  return declared && batches.inStep(declared) > 0 ? sizeCollected(list) : nullptr;
}

// The containers that what a step reads is an item of: those that its loop goes through or that are subscripted there, and those of the functions that
// make them. `known` becomes false where one is not seen.
llvm::SetVector<const ValueDecl*> Model::listsAround(const Expr* shard, bool& known) const {
  llvm::SetVector<const ValueDecl*> containers;
  const auto addContainer = [&](auto&& self, const Expr* e, unsigned depth) -> void {
    e = strip(e);
    const ValueDecl* container = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
    if (isa<CXXConstructExpr, InitListExpr>(e) && argumentsOf(e).empty()) return;  // std::vector<Batch> batches;
    if (depth > 4 || (!container && code.targets(e).empty())) return (void)(known = false);
    if (!container) {
      for (const FunctionDecl* f : code.targets(e))
        for (const Expr* r : definitions.returns(f)) self(self, r, depth + 1);
    } else if (containers.insert(container)) {
      for (const Definition& def : definitions.of(container))
        if (def.value && !def.compound && !def.through) self(self, def.value, depth + 1);
    }
  };
  // batches[i].first, `auto& [x, y] = batches[i];`
  const auto* named = isa<DeclRefExpr>(shard) ? dyn_cast<BindingDecl>(cast<DeclRefExpr>(shard)->getDecl()) : nullptr;
  const auto* whole = named ? dyn_cast<VarDecl>(named->getDecomposedDecl()) : nullptr;
  const Expr* item = strip(whole && whole->getInit() ? whole->getInit() : shard);
  while (const auto* m = dyn_cast<MemberExpr>(item)) item = strip(m->getBase());
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(item); o && o->getOperator() == OO_Subscript && isStdRecord(o->getArg(0)->getType().getNonReferenceType())) addContainer(addContainer, o->getArg(0), 0);
  else
    for (const HandLoop& h : batches.handLoops())
      if (const auto* r = dyn_cast<CXXForRangeStmt>(h.loop); r && batches.belongs(shard, h.loop) && isStdRecord(r->getRangeInit()->getType().getNonReferenceType())) addContainer(addContainer, r->getRangeInit(), 0);
  return containers;
}

// The calls that form what a step reads of a batch which is there when it begins: in the function that the head of the loop calls for it, or where the
// container was filled. Empty when one of them is not seen.
std::vector<const Expr*> Model::formedBefore(const Expr* shard) const {
  std::vector<const Expr*> made;
  bool seen = true;
  const auto addCall = [&](const Expr* o) {
    const auto* piece = dyn_cast<CXXOperatorCallExpr>(o);  // pieces[i] of x.split(size)
    const bool cut = (calleeOf(o) && context.dialect.lookup(o) && context.dialect.is(o->getType(), Role::Tensor)) || (piece && piece->getOperator() == OO_Subscript);
    if (cut && rowsOf(o)) made.push_back(o);
    else seen = seen && isa<CXXConstructExpr>(o) && argumentsOf(o).empty();  // Tensor x;
  };
  // Of what is put into a container: each tensor of it.
  const auto addParts = [&](auto&& self, const Expr* e, unsigned depth) -> void {
    e = strip(e);
    if (context.dialect.is(e->getType(), Role::Tensor)) {
      for (const Expr* o : definitions.origins(e)) addCall(o);
      return;
    }
    if (depth > 6) return (void)(seen = false);
    const auto* list = dyn_cast<InitListExpr>(e);
    if (const auto* l = dyn_cast<CXXStdInitializerListExpr>(e)) return self(self, l->getSubExpr(), depth + 1);
    if (list) {
      for (const Expr* i : list->inits()) self(self, i, depth + 1);
      return;
    }
    if (isa<CXXConstructExpr>(e) || (isa<CallExpr>(e) && calleeOf(e) && isSystemDecl(calleeOf(e)))) {  // make_pair(x, y)
      for (const Expr* a : argumentsOf(e)) self(self, a, depth + 1);
      return;
    }
    seen = false;
  };
  const ValueDecl* d = declOf(shard);
  if (const auto* m = dyn_cast<MemberExpr>(shard); m && isa<FieldDecl>(d) && !isSystemDecl(d)) {
    for (const Definition& def : definitions.of(d))
      if (!def.value || def.compound) seen = false;
      else
        for (const Expr* o : definitions.origins(def.value)) addCall(o);
    return seen ? made : std::vector<const Expr*>();
  }
  // A variable that the head of the loop fills through a reference.
  if (const auto* v = isa<DeclRefExpr>(shard) ? dyn_cast_or_null<VarDecl>(d) : nullptr; v && context.dialect.is(v->getType().getNonReferenceType(), Role::Tensor)) {
    for (const Definition& def : definitions.of(v))
      if (def.through && def.value)
        for (const Expr* o : definitions.origins(def.value)) addCall(o);
    if (!made.empty()) return seen ? made : std::vector<const Expr*>();
  }
  // What was put into the container that the batch is an item of.
  for (const ValueDecl* container : listsAround(shard, seen))
    for (const Expr* use : definitions.uses(container)) {
      const Stmt* p = code.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code.parent(p);
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
      if (!call || !objectOf(call) || declOf(objectOf(call)) != container || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) continue;
      for (const Expr* a : argumentsOf(call)) addParts(addParts, a, 0);
    }
  return seen ? made : std::vector<const Expr*>();
}

// `for (i = 0; i < rows; i += size)` around what forms a batch of `size` rows: is it the same number that moves on?
bool Model::movesBySize(const Expr* formed, const Expr* size) const {
  if (const auto* piece = dyn_cast<CXXOperatorCallExpr>(formed); piece && piece->getOperator() == OO_Subscript) return true;  // split has moved on
  for (const Stmt* p = code.parent(formed); p; p = code.parent(p)) {
    if (!isLoop(p)) continue;
    const auto* f = dyn_cast<ForStmt>(p);
    const auto* inc = f && f->getInc() ? dyn_cast<BinaryOperator>(f->getInc()->IgnoreParens()) : nullptr;
    return inc && inc->getOpcode() == BO_AddAssign && declOf(size) && declOf(strip(inc->getRHS())) == declOf(size);
  }
  return code.functionOf(formed) != nullptr;  // of a function that hands one out: see traceCursors
}

const Expr* Model::rowsOf(const Expr* shard) const {
  const auto* item = dyn_cast<CXXOperatorCallExpr>(shard);
  if (item && item->getOperator() == OO_Subscript) return sizeMade(item->getArg(0), "split");
  if (calleeName(shard) == "at" && objectOf(shard) && isStdRecord(objectOf(shard)->getType())) return sizeMade(objectOf(shard), "split");
  // *x of `auto* x = &batches[i];`
  if (const auto* u = dyn_cast<UnaryOperator>(shard); u && u->getOpcode() == UO_Deref) {
    const ValueDecl* pointer = declOf(u->getSubExpr());
    const auto made = pointer ? definitions.of(pointer) : llvm::ArrayRef<Definition>();
    const auto* address = made.size() == 1 && made[0].value ? dyn_cast<UnaryOperator>(strip(made[0].value)) : nullptr;
    return address && address->getOpcode() == UO_AddrOf ? rowsOf(strip(address->getSubExpr())) : nullptr;
  }
  if (const ValueDecl* d = isa<DeclRefExpr>(shard) ? declOf(shard) : nullptr)
    for (const HandLoop& h : batches.handLoops())
      if (const auto* r = dyn_cast<CXXForRangeStmt>(h.loop); r && r->getLoopVariable() == d) return sizeMade(r->getRangeInit(), "split");
  const Entry* entry = context.dialect.lookup(shard);
  const auto arguments = argumentsOf(shard);
  const auto given = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) ? arguments[i] : nullptr; };
  if (!entry) return nullptr;
  if (const Expr* made = freshTensor(shard, context.dialect); made && made != shard) return rowsOf(made);  // zeros({size, 8}).to(device)
  if (entry->op == OpKind::Concat && (calleeName(shard) == "stack" || calleeName(shard) == "pad_sequence") && given(0)) return sizeCollected(given(0));
  if (entry->op == OpKind::Factory && entry->shape < 0 && given(0)) {
    const Expr* piece = sizeOfPiece(given(0));
    return piece ? piece : sizeCollected(given(0));
  }
  if (const Expr* shape = given(entry->shape)) {
    const auto list = extentsOf(shape);
    const auto* minus = list && !list->empty() ? dyn_cast<UnaryOperator>(strip(list->front())) : nullptr;
    if (minus && minus->getOpcode() == UO_Minus) return nullptr;  // view({-1, n}): as many as there are
    const auto distance = list && !list->empty() ? distanceIn(list->front()) : std::nullopt;
    if (distance) return sizeSpanned(distance->first, distance->second);
    const Expr* collected = list && !list->empty() ? sizeCollectedInStep(list->front()) : nullptr;
    return collected ? collected : list && !list->empty() ? list->front() : nullptr;
  }
  if (entry->op != OpKind::Select || !calleeOf(shard)->getDeclName().isIdentifier()) return nullptr;
  const llvm::StringRef name = calleeOf(shard)->getName();
  if (const Expr* index = name == "index" ? given(entry->index) : nullptr) {
    auto interval = intervalIn(index);
    // auto rows = Slice(at, at + size); x.index({rows})
    const auto list = extentsOf(index);
    const Expr* first = strip(list && !list->empty() ? list->front() : index);
    for (const auto* k = dyn_cast<CXXConstructExpr>(first); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(first)) first = strip(argumentsOf(k)[0]);
    const ValueDecl* kept = isa<DeclRefExpr>(first) ? declOf(first) : nullptr;
    if (!interval && kept && definitions.of(kept).size() == 1 && definitions.of(kept)[0].value) interval = intervalIn(definitions.of(kept)[0].value);
    return interval ? sizeBetween(interval->first, interval->second) : nullptr;
  }
  const int first = entry->dim + 1;
  if (name == "index_select") return given(first) ? sizeMade(given(first), "multinomial") : nullptr;
  if (name == "narrow") return given(first + 1);
  const Expr* begin = given(first);
  const Expr* end = given(first + 1);
  if (name != "slice" || !begin || !end) return nullptr;
  return sizeBetween(begin, end);
}

}  // namespace hvdize
