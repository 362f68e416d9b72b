// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/batch_ends.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

bool isInteger(const Expr* e) { return e->getType().getNonReferenceType()->isIntegerType(); }

// What the integers of one loop are made from.
class Ends {
 public:
  Ends(const Model& m, const Stmt* loop) : m_(m), loop_(loop) {
    for (const Root& r : m.code.roots())
      forEachExpr(r.code, [&](const Expr* e) {
        if (m.batches.belongs(e, loop)) here_.push_back(e);
      });
    for (const Expr* e : here_) notePosition(e);
    for (const Expr* e : here_) noteRow(e);
  }

  // An element for each row of a batch, of what has as many elements as the program says.
  const Expr* outOfRoom() const {
    for (const Expr* e : here_)
      if (const auto [of, at] = element(e); of && isOfRow(at) && isFixed(of, 0)) return e;
    return nullptr;
  }

  // from_blob(numbers, {size, 2}): a tensor with the rows of a batch, over memory with as many numbers as the program says. In a loop, or in front of it.
  const Expr* pastMemory() const {
    const Expr* found = nullptr;
    for (const Root& r : m_.code.roots())
      forEachExpr(r.code, [&](const Expr* e) {
        const Entry* entry = calleeOf(e) ? m_.context.dialect.lookup(e) : nullptr;
        const auto given = argumentsOf(e);
        if (found || !entry || entry->op != OpKind::Factory || entry->shape < 1 || entry->shape >= static_cast<int>(given.size()) || !given[0]->getType()->isPointerType()) return;
        const auto extents = extentsOf(given[entry->shape]);
        if (extents && !extents->empty() && ofSize(extents->front()) && isFixed(given[0], 0)) found = e;
      });
    return found;
  }

  // As many rows as a batch has as it is written, from where one begins, by a number that does not follow the size of the batch.
  const Expr* ofWrittenSize() const {
    const llvm::DenseSet<int64_t> sizes = writtenSizes();
    const auto again = [&](const Expr* e) {
      if (!isInteger(e) || ofSize(e)) return false;
      const auto value = constantOf(e);
      return value && sizes.count(*value);
    };
    for (const Expr* e : sizes.empty() ? std::vector<const Expr*>() : here_) {
      if (const auto* b = dyn_cast<BinaryOperator>(e); b && isInteger(b) && b->getOpcode() == BO_Add)
        if ((isPlain(b->getLHS()) && again(b->getRHS())) || (isPlain(b->getRHS()) && again(b->getLHS()))) return e;
      const Entry* entry = calleeOf(e) ? m_.context.dialect.lookup(e) : nullptr;
      if (!entry || entry->role != Role::Op || entry->op != OpKind::Select) continue;
      const auto given = argumentsOf(e);
      const auto* at = llvm::find_if(given, [&](const Expr* a) { return isInteger(a) && isPlain(a); });
      if (at != given.end() && std::any_of(at + 1, given.end(), again)) return e;
    }
    return nullptr;
  }

  const Expr* readBehind() const {
    if (positions_.empty()) return nullptr;
    bool ends = false;
    for (const Expr* e : here_) {
      if (keepsWithin(e)) return nullptr;
      ends = ends || isEnd(e);
    }
    if (!ends) return nullptr;
    for (const Expr* e : here_)
      if (reads(e)) return e;
    return nullptr;
  }

 private:
  // Is something in `e`, or in what its variables, parameters and members are made from, as `yes` says?
  template <class F>
  bool made(const Expr* e, F yes, llvm::DenseSet<const void*>& seen) const {
    bool found = false;
    forEachExpr(e, [&](const Expr* x) {
      if (found) return;
      if (yes(x)) {
        found = true;
        return;
      }
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      const bool number = d && d->getType().getNonReferenceType()->isIntegerType();
      if (number && isa<VarDecl, FieldDecl>(d) && seen.insert(d).second)
        for (const Definition& def : m_.definitions.of(d)) found = found || (def.value && made(def.value, yes, seen));
      for (const FunctionDecl* f : m_.code.targets(x))
        if (isInteger(x) && seen.insert(f->getCanonicalDecl()).second)
          for (const Expr* r : m_.definitions.returns(f)) found = found || made(r, yes, seen);
    });
    return found;
  }
  bool ofSize(const Expr* e) const {
    llvm::DenseSet<const void*> seen;
    return made(e, [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
      return m_.batchSize.places().count(x) || m_.writtenAgain.count(x) || m_.writtenAgain.count(strip(x)) || m_.kinds.rowCounts().count(x) || m_.batchSize.places().count(strip(x)) || (d && m_.batchSize.scaled().count(d));
    }, seen);
  }
  std::optional<int64_t> constantOf(const Expr* e) const {
    Expr::EvalResult value;
    e = strip(e);
    if (e->isValueDependent() || !e->EvaluateAsInt(value, m_.context.ast) || !value.Val.getInt().isRepresentableByInt64()) return std::nullopt;
    return value.Val.getInt().getExtValue();
  }
  // The sizes of batches that stand in the text.
  llvm::DenseSet<int64_t> writtenSizes() const {
    llvm::DenseSet<int64_t> out;
    for (const Expr* place : m_.batchSize.places()) {
      auto value = constantOf(place);
      const auto* v = dyn_cast_or_null<VarDecl>(declOf(place));
      if (!value && v && v->getInit()) value = constantOf(v->getInit());
      if (value && *value > 1) out.insert(*value);
    }
    return out;
  }
  bool ofPosition(const Expr* e) const {
    llvm::DenseSet<const void*> seen;
    return made(e, [&](const Expr* x) { return isPosition(x); }, seen);
  }
  bool isPosition(const Expr* e) const {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
    return d && positions_.count(d);
  }

  // `at += batch`, `at = end` with `end = at + batch`; `b` of `b * batch`.
  void notePosition(const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || !isInteger(b)) return;
    const ValueDecl* left = isa<DeclRefExpr, MemberExpr>(strip(b->getLHS())) ? declOf(b->getLHS()) : nullptr;
    if (left && b->getOpcode() == BO_AddAssign && ofSize(b->getRHS())) positions_.insert(left);
    if (b->getOpcode() == BO_Mul)
      for (const auto& [number, size] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())})
        if (const ValueDecl* d = isa<DeclRefExpr>(strip(number)) ? declOf(number) : nullptr; d && isa<VarDecl>(d) && d->getType().getNonReferenceType()->isIntegerType() && !ofSize(number) && ofSize(size) && counts(d))
          positions_.insert(d);
    if (left && b->getOpcode() == BO_Assign) {
      bool onward = false;
      llvm::DenseSet<const void*> seen;
      made(b->getRHS(), [&](const Expr* x) { onward = onward || (isa<DeclRefExpr, MemberExpr>(x) && declOf(x) == left); return false; }, seen);
      if (onward && ofSize(b->getRHS())) positions_.insert(left);
    }
  }
  bool counts(const ValueDecl* d) const {
    return llvm::any_of(m_.definitions.of(d), [](const Definition& def) { return def.compound; });
  }

  // `at < n`, `b * batch < n`, where n follows from the data alone.
  bool isEnd(const Expr* e) const {
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || !b->isComparisonOp() || !isInteger(b->getLHS()) || !isInteger(b->getRHS())) return false;
    return (isPlain(b->getLHS()) && !ofSize(b->getRHS())) || (isPlain(b->getRHS()) && !ofSize(b->getLHS()));
  }
  // A position itself, and not one behind it.
  bool isPlain(const Expr* e) const {
    e = strip(e);
    while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
    if (isPosition(e)) return true;
    const auto* b = dyn_cast<BinaryOperator>(e);
    return b && b->getOpcode() == BO_Mul && (isPlain(b->getLHS()) || isPlain(b->getRHS()));
  }

  // Something else that asks where the data end: `at + k < n`, `std::min(at + batch, n)`, `n - at`, `(at + k) % n`.
  bool keepsWithin(const Expr* e) const {
    if (const auto* b = dyn_cast<BinaryOperator>(e)) {
      if (!isInteger(b->getLHS()) || !isInteger(b->getRHS())) return false;
      if (b->getOpcode() == BO_Rem) return ofPosition(b->getLHS()) && !ofSize(b->getRHS()) && !isa<IntegerLiteral>(strip(b->getRHS()));
      if (b->getOpcode() == BO_Sub) return ofPosition(b->getRHS()) && !ofPosition(b->getLHS());
      if (!b->isComparisonOp() || isEnd(b)) return false;
      for (const auto& [end, other] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())}) {
        if (ofSize(other)) continue;
        if (ofPosition(end) && !ofPosition(other)) return true;
        // `if (rows.size() < batch) break;`: a number of rows, and no counter of a loop.
        if (!ofPosition(end) && ofSize(end) && !isa<DeclRefExpr>(strip(other))) return true;
      }
      return false;
    }
    const FunctionDecl* f = calleeOf(e);
    const llvm::StringRef name = f && f->getDeclName().isIdentifier() ? f->getName() : "";
    if ((name == "min" || name == "clamp") && isInteger(e))
      return llvm::any_of(argumentsOf(e), [&](const Expr* a) { return ofSize(a) || ofPosition(a); });
    return false;
  }

  // `r < rows` in the head of a loop, where that follows from the size of the batch: r counts the rows of a batch.
  void noteRow(const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || !b->isComparisonOp() || !isInteger(b->getLHS()) || !isInteger(b->getRHS())) return;
    const Stmt* around = m_.code.parent(b);
    while (isa_and_nonnull<Expr>(around)) around = m_.code.parent(around);
    if (!isa_and_nonnull<ForStmt, WhileStmt, DoStmt>(around) || around == loop_) return;
    for (const auto& [row, end] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())})
      if (const auto* v = isa<DeclRefExpr>(strip(row)) ? dyn_cast_or_null<VarDecl>(declOf(row)) : nullptr; v && counts(v) && !ofPosition(row) && !ofSize(row) && ofSize(end)) rows_.insert(v);
  }
  // `r`, `r * columns + j`.
  bool isOfRow(const Expr* at) const {
    at = strip(at);
    while (const auto* cast = dyn_cast<ExplicitCastExpr>(at)) at = strip(cast->getSubExpr());
    if (isa<DeclRefExpr>(at)) {
      const ValueDecl* d = declOf(at);
      if (rows_.count(d)) return true;
      const auto given = isa_and_nonnull<VarDecl>(d) ? m_.definitions.of(d) : llvm::ArrayRef<Definition>();
      return given.size() == 1 && given[0].value && !given[0].compound && isa<BinaryOperator>(strip(given[0].value)) && isOfRow(given[0].value);
    }
    const auto* b = dyn_cast<BinaryOperator>(at);
    return b && (b->getOpcode() == BO_Add || b->getOpcode() == BO_Mul) && !ofPosition(b) && (isOfRow(b->getLHS()) || isOfRow(b->getRHS()));
  }
  bool isConstant(const Expr* e) const {
    return isInteger(e) && !e->isValueDependent() && e->isIntegerConstantExpr(m_.context.ast) && !ofSize(e);
  }
  // Has the array, list or tensor that this names as many elements as constants say?
  bool isFixed(const Expr* of, unsigned depth) const {
    if (!of || depth > 5) return false;
    of = strip(of);
    const QualType t = of->getType().getNonReferenceType();
    if (m_.context.ast.getAsConstantArrayType(t)) return true;
    const CXXRecordDecl* r = t->getAsCXXRecordDecl();
    if (r && r->isInStdNamespace() && r->getName().contains("string")) return false;  // a bar that shows how far the epoch is
    if (r && r->isInStdNamespace() && r->getName() == "array") return true;
    if (calleeOf(of) && objectOf(of)) {
      const llvm::StringRef name = calleeName(of);
      if (name == "data" || name == "begin" || name == "data_ptr" || name == "mutable_data_ptr" || name == "accessor") return isFixed(objectOf(of), depth + 1);
    }
    if (const auto* address = dyn_cast<UnaryOperator>(of); address && address->getOpcode() == UO_AddrOf) {
      const auto [whole, at] = element(strip(address->getSubExpr()));
      return whole && isFixed(whole, depth + 1);
    }
    if (const Expr* made = freshTensor(of, m_.context.dialect)) {
      const auto arguments = argumentsOf(made);
      const auto extents = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
      return extents && !extents->empty() && isConstant(extents->front());
    }
    if (const auto* k = dyn_cast<CXXConstructExpr>(of); k && isStdRecord(k->getType()) && !k->getConstructor()->isCopyOrMoveConstructor())
      return k->getNumArgs() > 0 && isConstant(k->getArg(0));
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(of) ? declOf(of) : nullptr;
    if (!d) return false;
    // What grows is as long as it is.
    for (const Expr* use : m_.definitions.uses(d)) {
      const Stmt* p = m_.code.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = m_.code.parent(p);
      const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
      const llvm::StringRef name = call && objectOf(call) && declOf(objectOf(call)) == d ? calleeName(call) : "";
      if (name == "resize" || name == "assign" || name == "push_back" || name == "emplace_back" || name == "resize_") return false;
    }
    bool made = false;
    for (const Definition& def : m_.definitions.of(d)) {
      // Else an element of it gets a value.
      if (!def.value || def.compound || def.through || !m_.context.ast.hasSameUnqualifiedType(def.value->getType(), d->getType().getNonReferenceType())) continue;
      if (!isFixed(def.value, depth + 1)) return false;
      made = true;
    }
    return made;
  }

  // What an element or an iterator is taken of, and where.
  static std::pair<const Expr*, const Expr*> element(const Expr* e) {
    const Expr *of = nullptr, *at = nullptr;
    const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) of = a->getBase(), at = a->getIdx();
    else if (item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2) of = item->getArg(0), at = item->getArg(1);
    else if (item && item->getOperator() == OO_Plus && item->getNumArgs() == 2 && calleeOf(e) && isSystemDecl(calleeOf(e)) && isInteger(item->getArg(1)) && namesIterator(item->getArg(0)->getType())) of = item->getArg(0), at = item->getArg(1);
    else if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Add && b->getLHS()->getType()->isPointerType()) of = b->getLHS(), at = b->getRHS();
    return of && isInteger(at) ? std::pair(of, at) : std::pair<const Expr*, const Expr*>();
  }
  // An element or an iterator behind the position, of what was there before the loop.
  bool reads(const Expr* e) const {
    const auto [of, at] = element(e);
    if (!of || !ofPosition(at)) return false;
    bool inner = false;  // x[order[at + k]]: that is what the inner one reads
    forEachExpr(at, [&](const Expr* x) { inner = inner || reads(x); });
    if (inner) return false;
    const auto* v = dyn_cast_or_null<VarDecl>(rootOf(of));
    const Stmt* declared = v ? m_.code.declStmt(v) : nullptr;
    return !declared || !isWithin(m_.code, declared, loop_) || v->getType()->isReferenceType() || v->getType()->isPointerType();
  }
  static bool namesIterator(QualType t) {
    const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
    return r && r->getDeclName().isIdentifier() && r->getName().contains("iterator");
  }

  const Model& m_;
  const Stmt* loop_;
  std::vector<const Expr*> here_;
  llvm::DenseSet<const ValueDecl*> positions_, rows_;
};

}  // namespace

Overrun overrunOf(const Model& m) {
  for (const HandLoop& h : m.batches.handLoops()) {
    if (!h.trains || m.batches.isPartLoop(h.loop) || m.collectsRows(h.loop)) continue;
    const Ends ends(m, h.loop);
    if (const Expr* e = ends.readBehind()) return {e, Overrun::Kind::End};
    if (const Expr* e = ends.outOfRoom()) return {e, Overrun::Kind::Buffer};
    if (const Expr* e = ends.pastMemory()) return {e, Overrun::Kind::Buffer};
    if (const Expr* e = ends.ofWrittenSize()) return {e, Overrun::Kind::Part};
  }
  for (const LoaderLoop& l : m.batches.loaderLoops()) {
    if (!l.trains) continue;
    const Ends ends(m, l.loop);
    if (const Expr* e = ends.outOfRoom()) return {e, Overrun::Kind::Buffer};
    if (const Expr* e = ends.ofWrittenSize()) return {e, Overrun::Kind::Part};
  }
  return {};
}

}  // namespace hvdize
