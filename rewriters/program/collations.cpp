// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/collations.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kDeepest = 12;

// std::vector, c10::ArrayRef, std::span: what samples, or their numbers, are listed in.
bool isList(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->getDeclName().isIdentifier() && (r->getName() == "vector" || r->getName() == "ArrayRef" || r->getName() == "span" || r->getName() == "deque");
}

// What std::move and the like hand on.
const Expr* handedOn(const Expr* e) {
  e = strip(e);
  while (e && isa<CallExpr>(e) && hostRole(calleeOf(e)) == HostRole::Forward && (calleeName(e) == "move" || calleeName(e) == "forward" || calleeName(e) == "as_const") && argumentsOf(e).size() == 1) e = strip(argumentsOf(e)[0]);
  return e;
}

const Expr* withoutCasts(const Expr* e) {
  e = handedOn(e);
  while (const auto* cast = dyn_cast_or_null<ExplicitCastExpr>(e)) e = handedOn(cast->getSubExpr());
  return e;
}

// The whole expression statement that `e` stands in; null where it stands in a declaration, a return or the head of a loop.
const Expr* statementOf(const AuthorCode& code, const Expr* e) {
  const Stmt* s = e;
  while (const auto* parent = dyn_cast_or_null<Expr>(code.parent(s))) s = parent;
  return isWholeStatement(code, cast<Expr>(s)) ? cast<Expr>(s) : nullptr;
}

// What an assignment assigns to; null for anything else.
const Expr* assignedBy(const Expr* statement) {
  const Expr* e = strip(statement);
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isAssignmentOp() ? b->getLHS() : nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  return o && o->isAssignmentOp() && o->getNumArgs() == 2 ? o->getArg(0) : nullptr;
}

// An arithmetic type, or the framework's class for any of them.
bool isNumber(const Expr* e) {
  if (e->getType()->isArithmeticType()) return true;
  const auto* k = dyn_cast<CXXConstructExpr>(e->IgnoreImplicit());
  return k && argumentsOf(k).size() == 1 && argumentsOf(k)[0]->getType()->isArithmeticType();
}

bool mentions(const Stmt* tree, const Expr* e) {
  bool any = false;
  forEachExpr(tree, [&](const Expr* x) { any = any || x == e; });
  return any;
}

}  // namespace

Collations::Collations(const Definitions& definitions, const Dialect& dialect) : definitions_(definitions), code_(definitions.code()), dialect_(dialect) {
  DataFunctions makers;
  for (const FunctionDecl* f : calledWithSamples(code_, dialect)) {
    for (const ParmVarDecl* p : f->parameters()) {
      taken_.insert(p);
      if (isList(p->getType())) lists_.insert(p), makers.insert(f->getCanonicalDecl());
    }
    addReached(code_, f, reached_);
  }
  if (makers.empty()) return;
  findTaken();
  for (const FunctionDecl* f : makers) addReached(code_, f, making_);
  for (const FieldDecl* field : code_.fields())
    for (const Definition& by : definitions_.of(field)) {
      const FunctionDecl* f = by.value ? code_.functionOf(by.value) : nullptr;
      if (!f || !making_.contains(f->getCanonicalDecl()) || givesPart(code_, by.value)) continue;
      const auto made = definitions_.origins(by.value);
      const bool empty = made.size() == 1 && isa<CXXConstructExpr>(made[0]) && argumentsOf(made[0]).empty();
      if (empty && definitions_.of(field).size() > 1) continue;  // filled afterwards
      Collated what = classify(by.value);
      if (by.compound && (what != Collated::Alike || taken_.contains(field))) what = Collated::Unclear;
      Found& found = fields_[field];
      if (found.what == Collated::No) found = {what, by.value};
      else if (found.what != what) found = {Collated::Unclear, by.value};
    }
  findKept();
}

// `Item batch = items[0]; batch.data = stack(..);`: the other fields are still those of the first of this rank's samples.
void Collations::findKept() {
  llvm::DenseMap<const RecordDecl*, const Expr*> made;
  for (const auto& [d, found] : fields_)
    if (const auto* field = dyn_cast<FieldDecl>(d)) made[field->getParent()] = found.by;
  for (const auto& [record, by] : made)
    for (const FieldDecl* field : record->fields())
      if (!fields_.contains(field) && taken_.contains(field)) fields_[field] = {isList(field->getType()) && filledOnceEach(field) ? Collated::List : Collated::Unclear, by};
}

Collated Collations::of(const ValueDecl* field) const { return fields_.lookup(field).what; }

const Expr* Collations::maker(const ValueDecl* field) const { return fields_.lookup(field).by; }

// The loop over a range whose variable this is.
const CXXForRangeStmt* Collations::loopOf(const ValueDecl* d) const {
  const auto* v = dyn_cast<VarDecl>(d);
  const DeclStmt* ds = v ? code_.declStmt(v) : nullptr;
  const auto* loop = ds ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(ds)) : nullptr;
  return loop && loop->getLoopVariable() == v ? loop : nullptr;
}

// Does the tree name anything that has something of the samples? A field of the author's own classes speaks for itself: what a sample holds besides may
// belong to none.
bool Collations::depends(const Stmt* s) const {
  if (!s) return false;
  if (const auto* m = dyn_cast<MemberExpr>(s); m && isa<FieldDecl>(m->getMemberDecl()) && !isSystemDecl(m->getMemberDecl())) {
    if (taken_.contains(m->getMemberDecl())) return true;
    return definitions_.of(m->getMemberDecl()).empty() && depends(m->getBase());
  }
  if (const auto* r = dyn_cast<DeclRefExpr>(s)) {
    const auto* binding = dyn_cast<BindingDecl>(r->getDecl());
    if (const auto* field = binding ? dyn_cast_or_null<MemberExpr>(binding->getBinding()) : nullptr) return depends(field);
    return (declOf(r) && taken_.contains(declOf(r))) || (binding && taken_.contains(binding->getDecomposedDecl()));
  }
  if (const auto* l = dyn_cast<LambdaExpr>(s)) return depends(l->getBody());
  if (const auto* e = dyn_cast<Expr>(s))
    for (const FunctionDecl* f : code_.targets(e))
      if (llvm::any_of(definitions_.returns(f), [&](const Expr* r) { return depends(r); })) return true;
  return llvm::any_of(s->children(), [&](const Stmt* c) { return depends(c); });
}

// Is it up to the samples whether, or how often, this is run for the `d` that lives longer?
bool Collations::dependsOnWay(const Stmt* s, const ValueDecl* d) const {
  const auto* v = dyn_cast<VarDecl>(d);
  const DeclStmt* declared = v ? code_.declStmt(v) : nullptr;
  for (const Stmt *p = code_.parent(s), *below = s; p; below = p, p = code_.parent(p)) {
    if (declared && isWithin(code_, declared, p) && !isa<CompoundStmt>(p)) return false;
    const Stmt* head = nullptr;
    if (const auto* r = dyn_cast<CXXForRangeStmt>(p)) head = r->getRangeInit();
    if (const auto* f = dyn_cast<ForStmt>(p)) head = f->getCond();
    if (const auto* w = dyn_cast<WhileStmt>(p)) head = w->getCond();
    if (const auto* i = dyn_cast<IfStmt>(p)) head = i->getCond();
    if (head && head != below && depends(head)) return true;
  }
  return false;
}

bool Collations::getsSamples(const ValueDecl* d) const {
  if (const CXXForRangeStmt* loop = loopOf(d)) return depends(loop->getRangeInit());
  const bool field = isa<FieldDecl>(d);
  for (const Definition& by : definitions_.of(d)) {
    const FunctionDecl* f = by.value ? code_.functionOf(by.value) : nullptr;
    if (f && reached_.contains(f->getCanonicalDecl()) && (depends(by.value) || (!field && dependsOnWay(by.value, d)))) return true;
  }
  for (const Expr* use : definitions_.uses(d)) {
    const FunctionDecl* f = code_.functionOf(use);
    if (!f || !reached_.contains(f->getCanonicalDecl())) continue;
    const Expr* statement = statementOf(code_, use);
    if (!statement) continue;
    if (const Expr* target = assignedBy(statement); target && (rootOf(target) != d || !mentions(target, use))) continue;
    if (depends(statement) || (!field && dependsOnWay(statement, d))) return true;
  }
  return false;
}

void Collations::findTaken() {
  llvm::SetVector<const ValueDecl*> open;
  for (const Function& f : code_.functions()) {
    if (!reached_.contains(f.decl->getCanonicalDecl())) continue;
    for (const ParmVarDecl* p : f.decl->parameters()) open.insert(p);
    forEachExpr(f.body, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      if (!d || isa<FunctionDecl>(d) || isSystemDecl(d)) return;
      open.insert(d);
      if (const auto* b = dyn_cast<BindingDecl>(d)) open.insert(b->getDecomposedDecl());
    });
  }
  for (const FieldDecl* field : code_.fields()) open.insert(field);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ValueDecl* d : open)
      if (!taken_.contains(d) && getsSamples(d)) taken_.insert(d), changed = true;
  }
}

Collated Collations::classify(const Expr* made) const {
  if (!depends(made)) return Collated::Alike;
  if (made->getType()->isArithmeticType()) return counts(made, 0) ? Collated::Count : Collated::Unclear;
  if (dialect_.is(made->getType(), Role::Tensor)) return rows(made, 0) ? Collated::Rows : Collated::Unclear;
  return itemEach(made, 0) ? Collated::List : Collated::Unclear;
}

// What gives the variable its values where batches are made: the constructor of a class that serves samples, too, gets single ones elsewhere.
llvm::SmallVector<Definition, 4> Collations::givenTo(const ValueDecl* d) const {
  const bool anywhere = !isa<ParmVarDecl, FieldDecl>(d);
  llvm::SmallVector<Definition, 4> out;
  for (const Definition& by : definitions_.of(d)) {
    const FunctionDecl* f = by.value ? code_.functionOf(by.value) : nullptr;
    if (anywhere || (f && making_.contains(f->getCanonicalDecl()))) out.push_back(by);
  }
  return out;
}

// The number of the samples: `samples.size()`, whatever it is cast to.
bool Collations::counts(const Expr* number, unsigned depth) const {
  number = withoutCasts(number);
  if (!number || depth > kDeepest) return false;
  if (const auto* v = isa<DeclRefExpr>(number) ? dyn_cast_or_null<VarDecl>(declOf(number)) : nullptr) {
    const auto given = givenTo(v);
    return given.size() == 1 && given[0].value && !given[0].compound && counts(given[0].value, depth + 1);
  }
  const Entry* entry = calleeOf(number) ? dialect_.lookup(number) : nullptr;
  if (entry && entry->op == OpKind::Size) return objectOf(number) && dimensionOf(number, *entry, code_.context()) == 0 && rows(objectOf(number), depth + 1);
  return calleeName(number) == "size" && objectOf(number) && argumentsOf(number).empty() && itemEach(objectOf(number), depth + 1);
}

// A list with one item for each sample.
bool Collations::itemEach(const Expr* list, unsigned depth) const {
  list = withoutCasts(list);
  if (!list || depth > kDeepest) return false;
  if (const ValueDecl* d = declOf(list)) {
    const auto* v = dyn_cast<VarDecl>(d);
    if (!v || !isList(v->getType())) return false;
    const auto changesLength = [&](const Expr* use) {
      const auto* m = dyn_cast_or_null<MemberExpr>(code_.parent(use));
      const llvm::StringRef name = m && m->getMemberDecl()->getDeclName().isIdentifier() ? m->getMemberDecl()->getName() : "";
      return name.starts_with("push") || name.starts_with("emplace") || name == "insert" || name == "resize" || name == "erase" || name.starts_with("pop") || name == "clear" || name == "assign";
    };
    const bool changes = llvm::any_of(definitions_.uses(v), changesLength);
    if (readsSingleItem(v)) return false;
    if (lists_.contains(v)) return !changes;
    const auto given = givenTo(v);
    if (isa<ParmVarDecl>(v)) return !given.empty() && llvm::all_of(given, [&](const Definition& by) { return by.value && itemEach(by.value, depth + 1); });
    if (!v->hasLocalStorage()) return false;
    const Expr* init = v->getInit() ? strip(v->getInit()) : nullptr;
    if (!init || (isa<CXXConstructExpr>(init) && argumentsOf(init).empty())) return filledOnceEach(v);
    // Made as long as the samples are many, or of them: nothing may be added to it then.
    return !changes && itemEach(init, depth + 1);
  }
  const auto arguments = argumentsOf(list);
  if (isa<CXXConstructExpr>(list) && !arguments.empty()) {
    const auto end = [&](const Expr* e, llvm::StringRef name) { return calleeName(strip(e)).ends_with(name) && objectOf(strip(e)) && itemEach(objectOf(strip(e)), depth + 1); };
    if (arguments.size() >= 2 && end(arguments[0], "begin") && end(arguments[1], "end")) return true;
    if (arguments[0]->getType()->isIntegerType()) return counts(arguments[0], depth + 1);
    return arguments.size() == 1 && itemEach(arguments[0], depth + 1);
  }
  // samples.vec(), samples.slice(0)
  return objectOf(list) && isList(objectOf(list)->getType()) && calleeName(list) == "vec" && itemEach(objectOf(list), depth + 1);
}

// Does the loop run once for each sample, and to its end?
bool Collations::runsOnceEach(const Stmt* loop, unsigned depth) const {
  if (!loop || !isa_and_nonnull<CompoundStmt>(code_.parent(loop)) || code_.parent(code_.parent(loop))) return false;
  bool leaves = false;
  const auto look = [&](auto&& self, const Stmt* s) -> void {
    if (!s) return;
    leaves = leaves || isa<BreakStmt, ContinueStmt, ReturnStmt, GotoStmt>(s);
    for (const Stmt* c : s->children()) self(self, c);
  };
  look(look, loopBody(loop));
  if (leaves) return false;
  if (const auto* r = dyn_cast<CXXForRangeStmt>(loop)) return itemEach(r->getRangeInit(), depth + 1);
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* until = f && f->getCond() ? dyn_cast<BinaryOperator>(strip(f->getCond())) : nullptr;
  // From the first one on, one by one.
  const auto* declared = f ? dyn_cast_or_null<DeclStmt>(f->getInit()) : nullptr;
  const auto* i = declared && declared->isSingleDecl() ? dyn_cast<VarDecl>(declared->getSingleDecl()) : nullptr;
  const auto* next = f ? dyn_cast_or_null<UnaryOperator>(f->getInc()) : nullptr;
  Expr::EvalResult first;
  const bool each = i && i->getInit() && next && next->isIncrementOp() && declOf(next->getSubExpr()) == i && i->getInit()->EvaluateAsInt(first, code_.context()) && first.Val.getInt() == 0;
  return each && until && (until->getOpcode() == BO_LT || until->getOpcode() == BO_NE) && counts(until->getRHS(), depth + 1);
}

bool Collations::filledOnceEach(const ValueDecl* list) const {
  unsigned fills = 0;
  for (const Expr* use : definitions_.uses(list)) {
    const FunctionDecl* f = code_.functionOf(use);
    if (!f || !making_.contains(f->getCanonicalDecl())) continue;
    const auto* m = dyn_cast_or_null<MemberExpr>(code_.parent(use));
    const llvm::StringRef name = m && m->getMemberDecl()->getDeclName().isIdentifier() ? m->getMemberDecl()->getName() : "";
    const Expr* statement = statementOf(code_, use);
    if (name == "push_back" || name == "emplace_back") {
      const Stmt* p = statement ? code_.parent(statement) : nullptr;
      if (isa_and_nonnull<CompoundStmt>(p)) p = code_.parent(p);
      if (!isa_and_nonnull<ForStmt, CXXForRangeStmt>(p) || !runsOnceEach(p, 0) || countsPosition(statement)) return false;
      ++fills;
    } else if (name == "insert" || name == "resize" || name == "erase" || name == "assign" || name.starts_with("pop") || name == "clear") {
      const auto* call = statement ? dyn_cast<CXXMemberCallExpr>(strip(statement)) : nullptr;
      const auto arguments = call ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
      if (name != "resize" || arguments.empty() || !counts(arguments[0], 0)) return false;
      ++fills;
    } else if (statement && isa<CallExpr>(strip(statement)) && calleeOf(strip(statement))) {
      // std::transform(samples.begin(), samples.end(), std::back_inserter(list), f)
      const auto arguments = argumentsOf(strip(statement));
      if (calleeName(strip(statement)) != "transform" || arguments.size() != 4 || !mentions(arguments[2], use)) continue;
      const Expr* from = strip(arguments[0]);
      if (!objectOf(from) || !itemEach(objectOf(from), 0) || code_.parent(code_.parent(statement))) return false;
      ++fills;
    }
  }
  return fills == 1;
}

// Has each tensor of the list one row, as far as can be seen? Others that are laid one behind another have more rows than there are samples.
bool Collations::rowEach(const Expr* list) const {
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(list));
  const auto isOne = [&](const Expr* e) {
    Expr::EvalResult r;
    return e->getType()->isIntegerType() && e->EvaluateAsInt(r, code_.context()) && r.Val.getInt() == 1;
  };
  const auto oneRow = [&](const Expr* made) {
    const Entry* entry = calleeOf(made) ? dialect_.lookup(made) : nullptr;
    if (!entry || entry->role != Role::Op) return false;
    const auto arguments = argumentsOf(made);
    if (entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size())) {
      const auto extents = extentsOf(arguments[entry->shape]);
      return entry->order == 0 && extents && !extents->empty() && isOne(strip(extents->front()));
    }
    return entry->op == OpKind::Reshape && calleeName(made) == "unsqueeze" && dimensionOf(made, *entry, code_.context()) == 0;
  };
  bool any = false;
  for (const Expr* use : v ? definitions_.uses(v) : llvm::ArrayRef<const Expr*>()) {
    const auto* m = dyn_cast_or_null<MemberExpr>(code_.parent(use));
    const auto* call = m ? dyn_cast_or_null<CXXMemberCallExpr>(code_.parent(m)) : nullptr;
    if (!call || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) continue;
    if (argumentsOf(call).size() != 1 || !oneRow(strip(argumentsOf(call)[0]))) return false;
    any = true;
  }
  return any;
}

// A tensor with one row for each sample.
bool Collations::rows(const Expr* tensor, unsigned depth) const {
  tensor = handedOn(tensor);
  if (!tensor || depth > kDeepest) return false;
  const auto* m = dyn_cast<MemberExpr>(tensor);
  const ValueDecl* d = isa<DeclRefExpr>(tensor) ? dyn_cast_or_null<VarDecl>(declOf(tensor)) : m && !isSystemDecl(m->getMemberDecl()) ? m->getMemberDecl() : nullptr;
  if (d) {
    if (!open_.insert(d).second) return true;  // x = x.to(device)
    bool all = true, any = false;
    for (const Definition& by : givenTo(d)) {
      if (!by.value || givesPart(code_, by.value)) continue;
      all = all && !by.compound && rows(by.value, depth + 1);
      any = true;
    }
    open_.erase(d);
    return any && all;
  }
  if (const auto targets = code_.targets(tensor); !targets.empty())
    return llvm::all_of(targets, [&](const FunctionDecl* f) {
      const auto returned = definitions_.returns(f);
      return !returned.empty() && llvm::all_of(returned, [&](const Expr* r) { return rows(r, depth + 1); });
    });
  const Entry* entry = calleeOf(tensor) ? dialect_.lookup(tensor) : nullptr;
  if (!entry || entry->role != Role::Op) return false;
  const Expr* object = objectOf(tensor);
  const auto arguments = argumentsOf(tensor);
  const auto dimension = [&] { return dimensionOf(tensor, *entry, code_.context()); };
  const auto firstCounts = [&] {
    if (entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return false;
    const auto extents = extentsOf(arguments[entry->shape]);
    return extents && !extents->empty() && counts(extents->front(), depth + 1);
  };
  if ((entry->op == OpKind::Elementwise || entry->op == OpKind::Scale) && llvm::any_of(arguments, [&](const Expr* a) { return isNumber(a) && depends(a); })) return false;  // x / samples.size()
  switch (entry->op) {
    case OpKind::Concat: {
      if (dimension() != 0 || arguments.empty() || !itemEach(arguments[0], depth + 1)) return false;
      const llvm::StringRef name = calleeName(tensor);
      return name == "stack" || name == "pad_sequence" || rowEach(arguments[0]);
    }
    case OpKind::Elementwise: {
      bool any = false;
      llvm::SmallVector<const Expr*, 4> operands(arguments.begin(), arguments.end());
      if (object) operands.push_back(object);
      for (const Expr* operand : operands) {
        if (!dialect_.is(operand->getType(), Role::Tensor) || !depends(operand)) continue;
        if (!rows(operand, depth + 1)) return false;
        any = true;
      }
      return any;
    }
    case OpKind::Factory:
      if (entry->shape >= 0) return firstCounts();
      if (arguments.empty()) return false;
      if (dialect_.is(arguments[0]->getType(), Role::Tensor)) return rows(arguments[0], depth + 1);  // zeros_like(x)
      return !arguments[0]->getType()->isArithmeticType() && itemEach(arguments[0], depth + 1);
    case OpKind::ReduceSum:
    case OpKind::ReduceMean:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceOther:
      return entry->dim >= 0 && object && entry->dim < static_cast<int>(arguments.size()) && dimension().value_or(0) != 0 && rows(object, depth + 1);
    case OpKind::Reshape:
      if (firstCounts()) return true;
      if (entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size())) {
        // permute({0, 2, 1}); view({-1, 3, 32, 32}): as many for each sample
        const auto extents = extentsOf(arguments[entry->shape]);
        Expr::EvalResult first;
        const bool written = extents && !extents->empty() && extents->front()->getType()->isIntegerType() && strip(extents->front())->EvaluateAsInt(first, code_.context());
        return object && written && first.Val.getInt() == (entry->order == 1 ? 0 : entry->order == 2 ? 1 : -1) && rows(object, depth + 1);
      }
      return entry->shape < 0 && object && rows(object, depth + 1) && dimension().value_or(0) != 0;
    case OpKind::Select:
      if (!object) return false;
      if (!depends(object)) {
        // images.index_select(0, numbers), images.index({numbers}), images[numbers]
        const bool listed = entry->index >= 0;
        const auto parts = listed && !arguments.empty() ? extentsOf(strip(arguments[0])) : std::nullopt;
        if (!listed && entry->dim >= 0 && dimension() != 0) return false;
        const Expr* at = listed ? (parts && !parts->empty() ? parts->front() : nullptr) : arguments.empty() ? nullptr : arguments.back();
        for (const auto* k = at ? dyn_cast<CXXConstructExpr>(strip(at)) : nullptr; k && k->getNumArgs() == 1; k = dyn_cast<CXXConstructExpr>(strip(at))) at = k->getArg(0);
        return at && dialect_.is(strip(at)->getType(), Role::Tensor) && rows(at, depth + 1);
      }
      return entry->dim >= 0 && rows(object, depth + 1) && dimension().value_or(0) != 0;
    case OpKind::Rowwise:
    case OpKind::Matmul:
    case OpKind::BatchedMatmul:
    case OpKind::Scale: {
      const Expr* of = object ? object : arguments.empty() ? nullptr : arguments[0];
      return of && dialect_.is(of->getType(), Role::Tensor) && rows(of, depth + 1) && (entry->dim < 0 || dimension().value_or(1) != 0);
    }
    default:
      return false;
  }
}

}  // namespace hvdize
