// SPDX-License-Identifier: Apache-2.0
// What a loop over this rank's rows adds up or counts: `loss = loss + cross_entropy(out[i], y[i])` for every i is a sum over the samples; what it puts into a list,
// one item for each row, is a list of samples.
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"

using namespace clang;

namespace hvdize {

static bool names(const Expr* e, const ValueDecl* d) {
  e = strip(e);
  return isa<DeclRefExpr>(e) && declOf(e) == d;
}

static std::optional<int64_t> numberOf(const Expr* e, const ASTContext& context) {
  Expr::EvalResult r;
  return e->EvaluateAsInt(r, context) ? std::optional<int64_t>(r.Val.getInt().getExtValue()) : std::nullopt;
}

// x.slice(0, i, i + 1), x.narrow(0, i, 1): one row, with the dimension of the rows.
bool Kinds::takesRowAt(const Expr* e, const Entry& entry, RowLoop& loop) const {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  if (entry.op != OpKind::Select || (name != "slice" && name != "narrow") || arguments.size() < 3 || dimensionOf(e, entry, code_.context()).value_or(0) != 0) return false;
  const auto at = [&](const Expr* x) -> const Expr* {  // through optional<int64_t>
    x = strip(x);
    for (const auto* k = dyn_cast<CXXConstructExpr>(x); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(x)) x = strip(argumentsOf(k)[0]);
    return x;
  };
  if (numberOf(at(arguments[0]), code_.context()) != 0 || !names(at(arguments[1]), loop.i)) return false;
  if (loop.all) loop.rows.push_back(at(arguments[1]));
  if (name == "narrow") return numberOf(at(arguments[2]), code_.context()) == 1;
  const auto* next = dyn_cast<BinaryOperator>(at(arguments[2]));
  if (loop.all && next) loop.rows.push_back(next->getLHS());
  return next && next->getOpcode() == BO_Add && names(next->getLHS(), loop.i) && numberOf(next->getRHS(), code_.context()) == 1;
}

// A loss of one row: whatever it makes of that is something of this sample. Its options are the same for all of them.
bool Kinds::readsLoss(const Expr* e, int options, RowLoop& loop) {
  const auto arguments = argumentsOf(e);
  if (objectOf(e) && !isa<DeclRefExpr, MemberExpr>(strip(objectOf(e)))) return false;
  for (unsigned a = 0; a < arguments.size(); ++a) {
    if (static_cast<int>(a) != options) {
      if (!readsRow(arguments[a], loop)) return false;
      continue;
    }
    bool alike = eval(arguments[a]).isUniform();
    forEachExpr(arguments[a], [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      alike = alike && !(d && (d == loop.i || loop.isOwn(code_, d))) && !dialect_.is(x, Role::RandomDraw);
    });
    if (!alike) return false;
  }
  return true;
}

// What says which rows of the data a batch has: the loop's variable or the record that it is a part of, the positions that cut it out, the number of rows of
// a new tensor.
std::string Kinds::rowsOfBatch(const Expr* shard) const {
  const SourceManager& sm = code_.context().getSourceManager();
  const auto text = [&](const Expr* e) { return Lexer::getSourceText(CharSourceRange::getTokenRange(e->getSourceRange()), sm, code_.context().getLangOpts()).str() + ";"; };
  const Expr* e = strip(shard);
  // All samples: of tensors that are made with one number of rows, as it is written, row `i` is that of the same sample.
  if (batches_.isAllData(e)) {
    const auto made = definitions_.of(declOf(e));
    const Expr* value = made.size() == 1 && made[0].value && !made[0].compound && !made[0].through ? strip(made[0].value) : nullptr;
    const Entry* entry = value && calleeOf(value) ? dialect_.lookup(value) : nullptr;
    const auto given = entry ? argumentsOf(value) : llvm::SmallVector<const Expr*, 4>();
    const auto list = entry && entry->shape >= 0 && entry->shape < static_cast<int>(given.size()) ? extentsOf(given[entry->shape]) : std::nullopt;
    const Expr* rows = list && !list->empty() ? strip(list->front()) : nullptr;
    const ValueDecl* n = rows ? declOf(rows) : nullptr;
    if (rows && (isa<IntegerLiteral>(rows) || (n && definitions_.of(n).size() <= 1))) return "rows " + text(rows);
  }
  if (!calleeOf(e)) {
    const ValueDecl* root = rootOf(e);
    if (const auto* b = dyn_cast_or_null<BindingDecl>(root)) root = cast<ValueDecl>(b->getDecomposedDecl());
    return "variable " + std::to_string(reinterpret_cast<uintptr_t>(root));
  }
  const Entry* entry = dialect_.lookup(e);
  const auto arguments = argumentsOf(e);
  if (entry && entry->role == Role::Op && entry->op == OpKind::Concat) return "list";
  if (entry && entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size()))
    if (const auto list = extentsOf(arguments[entry->shape]); list && !list->empty()) return "rows " + text(list->front());
  if (entry && entry->role == Role::Op && entry->op == OpKind::Factory && entry->shape < 0) return "list";
  std::string out;
  for (const Expr* a : arguments) out += text(a);
  return out;
}

// Have all batches of each step the same rows, as far as their text says? Else row `i` of one of this rank's tensors need not be that of another.
bool Kinds::oneBatch() const {
  llvm::DenseMap<const void*, std::string> known;  // by the loop around the step, or by the function that makes the batch
  for (const Expr* s : batches_.shards()) {
    const void* around = code_.functionOf(s);
    for (const Stmt* p = s; p; p = code_.parent(p))
      if (isLoop(p) && batches_.isStepLoop(p)) {
        around = p;
        break;
      }
    std::string rows = rowsOfBatch(s);
    const auto [at, fresh] = known.try_emplace(around, rows);
    if (!fresh && at->second != rows) return false;
  }
  return true;
}

// Does the variable begin anew in every step, as seen from a loop within it?
bool Kinds::isBegunInStep(const VarDecl* d, const Stmt* at) const {
  if (!d->isLocalVarDecl() || d->isStaticLocal() || isa<ParmVarDecl>(d) || d->getType()->isReferenceType()) return false;
  const DeclStmt* declared = code_.declStmt(d);
  const FunctionDecl* home = code_.functionOf(at);
  const auto* context = dyn_cast<FunctionDecl>(d->getDeclContext());
  if (!declared || !home || !context || home->getCanonicalDecl() != context->getCanonicalDecl()) return false;
  for (const Stmt* p = code_.parent(at); p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p)) return isWithin(code_, declared, loopBody(p)) || assignedFirst(d, p);
  return true;
}

// x / n, with a number of rows or the size of a batch: x, where `n` is made that of the whole batch. Null where it is no such quotient.
const Expr* Kinds::dividedByRows(const Expr* e) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(strip(e));
  if (!o || o->getOperator() != OO_Slash || o->getNumArgs() != 2) return nullptr;
  const Expr* n = strip(o->getArg(1));
  for (const auto* k = dyn_cast<CXXConstructExpr>(n); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(n)) n = strip(argumentsOf(k)[0]);
  if (!n->getType()->isArithmeticType()) return nullptr;
  const Expr* counted = n;
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(counted)) counted = strip(cast->getSubExpr());
  const bool size = isa<CXXMemberCallExpr>(counted) && dialect_.is(counted, Role::Op) && dialect_.lookup(counted)->op == OpKind::Size;
  if (!size && !isa<DeclRefExpr, MemberExpr>(counted)) return nullptr;
  const Value v = eval(n);
  if (v.kind == Kind::Rows && !assumesRows_) return host(n), o->getArg(0);
  return v.kind == Kind::BatchSize ? o->getArg(0) : nullptr;
}

// loss = loss + x, loss = a + loss, loss += x, loss -= x, loss.add_(x): x is something of this row.
bool Kinds::addsUp(const Expr* e, RowLoop& loop) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const Expr* target = o && o->isAssignmentOp() && o->getNumArgs() == 2 ? o->getArg(0) : objectOf(e);
  const auto* d = target && isa<DeclRefExpr>(strip(target)) ? dyn_cast_or_null<VarDecl>(declOf(strip(target))) : nullptr;
  if (!d || loop.isOwn(code_, d) || !isTensor(d->getType()) || decls_.lookup(d).kind == Kind::Sharded || decls_.lookup(d).kind == Kind::Second || !isBegunInStep(d, loop.body)) return false;
  unsigned named = 1, whole = 0, divided = 0;
  const auto reads = [&](const Expr* x) {
    const Expr* quotient = dividedByRows(x);
    ++(quotient ? divided : whole);
    return readsRow(quotient ? quotient : x, loop);
  };
  const auto terms = [&](auto&& self, const Expr* x) -> bool {  // loss + a - b: `loss` itself, once and not taken away
    x = strip(x);
    for (const auto* k = dyn_cast<CXXConstructExpr>(x); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(x)) x = strip(argumentsOf(k)[0]);
    if (names(x, d)) return ++named, true;
    const auto* sum = dyn_cast<CXXOperatorCallExpr>(x);
    if (!sum || sum->getNumArgs() != 2 || (sum->getOperator() != OO_Plus && sum->getOperator() != OO_Minus)) return false;
    if (mentions(sum->getArg(0), d)) return self(self, sum->getArg(0)) && reads(sum->getArg(1));
    return sum->getOperator() == OO_Plus && mentions(sum->getArg(1), d) && self(self, sum->getArg(1)) && reads(sum->getArg(0));
  };
  bool adds = false;
  if (o && o->getOperator() == OO_Equal) adds = terms(terms, o->getArg(1));
  else if (o && (o->getOperator() == OO_PlusEqual || o->getOperator() == OO_MinusEqual)) adds = reads(o->getArg(1));
  else if (!o && isa<CXXMemberCallExpr>(e) && dialect_.is(e, Role::Op) && (calleeName(e) == "add_" || calleeName(e) == "sub_"))
    adds = argumentsOf(e).size() > 0 && reads(argumentsOf(e)[0]) && llvm::all_of(llvm::drop_begin(argumentsOf(e)), [&](const Expr* a) { return readsRow(a, loop); });
  // All that is added to a sum is divided, or nothing is.
  (divided ? loop.divided : loop.undivided).insert(d);
  if (!adds || (divided && whole) || (loop.divided.count(d) && loop.undivided.count(d))) return false;
  loop.sums[d] += named;
  if (o) loop.terms.emplace_back(o->getOperator() == OO_Equal ? strip(o->getArg(1)) : o, d);
  return true;
}

// ++n, n += mask[i].sum().item<int64_t>(), of a number that begins with zero in the step.
bool Kinds::counts(const Expr* e, RowLoop& loop) {
  if (keepsExtreme(e, loop)) return true;
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto* u = dyn_cast<UnaryOperator>(e);
  const Expr* target = b && (b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign) ? b->getLHS() : u && u->isIncrementOp() ? u->getSubExpr() : nullptr;
  const auto* d = target && isa<DeclRefExpr>(strip(target)) ? dyn_cast_or_null<VarDecl>(declOf(strip(target))) : nullptr;
  if (!d || d == loop.i || loop.isOwn(code_, d) || !d->getType()->isArithmeticType() || !d->getInit() || !isBegunInStep(d, loop.body)) return false;
  // Changed elsewhere, it would be no sum over the samples.
  const auto onlyHere = [&](const Expr* use) { return isWithin(code_, use, loop.body) || isRead(code_, use); };
  if (eval(d->getInit()).kind != Kind::Zero || !llvm::all_of(definitions_.uses(d), onlyHere) || (b && !readsRow(b->getRHS(), loop))) return false;
  loop.sums[d] += 1;
  return true;
}

// A mention, behind the loop, of what such a loop has counted on the host: it means the whole batch.
std::optional<Value> Kinds::countedOverRows(const ValueDecl* d, const Expr* mention) {
  const auto kind = counted_.find(d);
  if (kind == counted_.end()) return std::nullopt;
  return cross(mention, kind->second, "counted row by row");
}

// `if (n > 0) loss = loss / n;`: what is not divided is a sum of nothing.
bool Kinds::isGuardedQuotient(const Expr* e) const {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(strip(e));
  if (!o || (o->getOperator() != OO_Slash && o->getOperator() != OO_SlashEqual) || o->getNumArgs() != 2) return false;
  const auto numberIn = [](const Expr* x) -> const ValueDecl* {
    x = strip(x);
    for (;;) {
      const auto* k = dyn_cast<CXXConstructExpr>(x);
      const auto* cast = dyn_cast<ExplicitCastExpr>(x);
      if (k && argumentsOf(k).size() == 1) x = strip(argumentsOf(k)[0]);
      else if (cast) x = strip(cast->getSubExpr());
      else break;
    }
    const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
    return d && d->getType()->isArithmeticType() ? d : nullptr;
  };
  const ValueDecl* n = numberIn(o->getArg(1));
  for (const Stmt *p = e, *below = e; n && p; below = p, p = code_.parent(p)) {
    const auto* branch = dyn_cast<IfStmt>(p);
    if (!branch || below != branch->getThen()) continue;
    const Expr* asked = strip(branch->getCond());
    const auto* compares = dyn_cast<BinaryOperator>(asked);
    const bool above = compares && (compares->getOpcode() == BO_GT || compares->getOpcode() == BO_NE || compares->getOpcode() == BO_GE);
    if (numberIn(above ? compares->getLHS() : asked) == n) return true;
  }
  return false;
}

// longest = std::max(longest, boxes[i].size(0)), of a number that begins alike on all ranks in the step.
bool Kinds::keepsExtreme(const Expr* e, RowLoop& loop) {
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto* d = b && b->getOpcode() == BO_Assign && isa<DeclRefExpr>(strip(b->getLHS())) ? dyn_cast_or_null<VarDecl>(declOf(strip(b->getLHS()))) : nullptr;
  const auto* call = d ? dyn_cast<CallExpr>(strip(b->getRHS())) : nullptr;
  const FunctionDecl* f = call ? calleeOf(call) : nullptr;
  if (!f || !isSystemDecl(f) || (calleeName(call) != "max" && calleeName(call) != "min") || call->getNumArgs() != 2) return false;
  if (d == loop.i || loop.isOwn(code_, d) || !d->getType()->isArithmeticType() || !d->getInit() || !isBegunInStep(d, loop.body)) return false;
  const bool first = names(call->getArg(0), d), second = names(call->getArg(1), d);
  const auto onlyHere = [&](const Expr* use) { return isWithin(code_, use, loop.body) || isRead(code_, use); };
  if (first == second || !eval(d->getInit()).isUniform() || !llvm::all_of(definitions_.uses(d), onlyHere) || !readsRow(call->getArg(first ? 1 : 0), loop)) return false;
  const Kind kind = calleeName(call) == "max" ? Kind::Max : Kind::Min;
  if (!loop.extremes.try_emplace(d, kind).second && loop.extremes.lookup(d) != kind) return false;
  loop.sums[d] += 2;
  return true;
}

// losses.push_back(cross_entropy(out[i], y[i])), for every row.
bool Kinds::collectsRow(const Expr* e, RowLoop& loop) {
  const auto arguments = argumentsOf(e);
  if (!objectOf(e) || !isa<DeclRefExpr>(strip(objectOf(e))) || !isStdRecord(objectOf(e)->getType()) || arguments.size() != 1) return false;
  if (calleeName(e) != "push_back" && calleeName(e) != "emplace_back") return false;
  const Stmt* statement = e;
  while (statement != loop.body && isa_and_nonnull<Expr>(code_.parent(statement))) statement = code_.parent(statement);
  if (statement != loop.body && code_.parent(statement) != loop.body) return false;  // under a condition
  if (leavesEarly(loop.body, true)) return false;                                     // `if (..) continue;` in front of it: a list of some of the rows
  const auto* list = dyn_cast_or_null<VarDecl>(declOf(objectOf(e)));
  const auto* c = list ? dyn_cast_or_null<ClassTemplateSpecializationDecl>(list->getType()->getAsCXXRecordDecl()) : nullptr;
  if (!c || c->getName() != "vector" || c->getTemplateArgs().size() == 0 || c->getTemplateArgs()[0].getKind() != TemplateArgument::Type || !isTensor(c->getTemplateArgs()[0].getAsType())) return false;
  if (!isBegunInStep(list, loop.body) || !readsRow(arguments[0], loop)) return false;
  loop.lists.insert(e);
  return true;
}

// Is what the loop adds up read nowhere else in it?
bool Kinds::sumsStandApart(const RowLoop& loop) const {
  for (const auto& [d, named] : loop.sums)
    if (llvm::count_if(definitions_.uses(d), [&](const Expr* use) { return isWithin(code_, use, loop.body); }) != named) return false;
  for (const Expr* call : loop.lists)
    if (llvm::count_if(definitions_.uses(declOf(objectOf(call))), [&](const Expr* use) { return isWithin(code_, use, loop.body); }) != 1) return false;
  return loop.sums.empty() || assumesRows_ || loop.read.kind == Kind::Sharded;
}

void Kinds::assignSums(const RowLoop& loop) {
  Value sum = Value(Kind::Sum).after(loop.read, loop.read);
  sum.graded = true;
  const auto sumOf = [&](const ValueDecl* d) {
    Value of = sum;
    of.power -= loop.divided.count(d) ? 1 : 0;
    return of;
  };
  for (const auto& [value, d] : loop.terms) rowSums_[value] = sumOf(d);
  for (const auto& [d, named] : loop.sums) {
    if (isTensor(d->getType())) assignDecl(d, sumOf(d));
    else counted_[d] = loop.extremes.count(d) ? loop.extremes.lookup(d) : Kind::Sum;
  }
  for (const Expr* call : loop.lists) collect(objectOf(call), call, true);
}

}  // namespace hvdize
