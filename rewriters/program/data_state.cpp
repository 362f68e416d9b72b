// SPDX-License-Identifier: Apache-2.0
// What a data set remembers from one sample to the next: on a rank it has seen that rank's samples only.
#include "rewriters/program/data_changes.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The variable or field that lives longer than the call, and that this expression changes by what it was before: ++n, sum += x, w[i] *= 0.9.
const Expr* changedFromBefore(const Expr* e) {
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp() ? u->getSubExpr() : nullptr;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isCompoundAssignmentOp() ? b->getLHS() : nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  if (!o || o->getNumArgs() == 0) return nullptr;
  const bool compound = o->isAssignmentOp() && o->getOperator() != OO_Equal;
  return compound || o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus ? o->getArg(0) : nullptr;
}

// `n = n + 1`
const Expr* assignedFromBefore(const AuthorCode& code, const Definitions& definitions, const Expr* e) {
  const auto* b = dyn_cast<BinaryOperator>(e);
  const ValueDecl* d = b && b->getOpcode() == BO_Assign ? rootOf(b->getLHS()) : nullptr;
  if (!d) return nullptr;
  const bool again = llvm::any_of(definitions.uses(d), [&](const Expr* use) { return isWithin(code, use, b->getRHS()); });
  return again ? b->getLHS() : nullptr;
}

// Does what is changed live longer than the reading of one sample: a field of the data set or transform, a global or captured variable? The
// fields of objects that a reader makes for itself do not.
bool outlives(const Expr* target, const FunctionDecl* f, const DataFunctions& data, const Dialect& dialect) {
  for (const Expr* e = strip(target); e; e = strip(e)) {
    if (isa<CXXThisExpr>(e)) {
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      return m && (takesExamples(dialect, m) || dialect.is(m->getParent(), Role::Dataset) || overridesFrameworks(dialect, m));
    }
    if (isa<DeclRefExpr>(e)) {
      const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
      const auto* home = v ? dyn_cast<FunctionDecl>(v->getDeclContext()) : nullptr;
      return v && (v->hasGlobalStorage() || (home && !isa<ParmVarDecl>(v) && !data.contains(home->getCanonicalDecl())));
    }
    if (const auto* m = dyn_cast<MemberExpr>(e)) e = m->getBase();
    else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) e = a->getBase();
    else if (const auto* u = dyn_cast<UnaryOperator>(e)) e = u->getSubExpr();
    else e = objectOf(e);
  }
  return false;
}

// Tensors that reading a sample changes in place, where they are part of what the data set keeps.
class KeptTensors {
 public:
  KeptTensors(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions) : code_(code), dialect_(dialect), definitions_(definitions) {}

  /// The tensor that `e` changes in place, and that the next pass over the data finds changed; null otherwise.
  const Expr* changed(const Expr* e) const {
    const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
    const Expr* object = entry && entry->role == Role::Op && entry->op == OpKind::Assign ? objectOf(e) : nullptr;
    if (!object || !dialect_.is(object->getType(), Role::Tensor)) return nullptr;
    if (calleeOf(e)->getOverloadedOperator() == OO_Equal && isOwnName(object)) return nullptr;
    // What is written anew is the same however often, unless it is made from what was there.
    const llvm::StringRef name = calleeName(e);
    const bool anew = calleeOf(e)->getOverloadedOperator() == OO_Equal || name == "copy_" || name == "fill_" || name == "zero_";
    const ValueDecl* root = rootOf(object);
    const bool again = !anew || llvm::any_of(argumentsOf(e), [&](const Expr* a) {
      return root && llvm::any_of(definitions_.uses(root), [&](const Expr* use) { return isWithin(code_, use, a); });
    });
    return again && isKept(object, 0) ? object : nullptr;
  }

 private:
  // A variable of the function, or a member of one: `image = image.permute(...)` gives another tensor its name, and writes into none.
  static bool isOwnName(const Expr* e) {
    e = strip(e);
    if (const auto* m = dyn_cast<MemberExpr>(e)) e = strip(m->getBase());
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    return v && !v->hasGlobalStorage();
  }

  // Part of a member of the data set, or of what some data set's `get` hands out as it keeps it.
  bool isKept(const Expr* tensor, int depth) const {
    const Expr* e = strip(tensor);
    for (const Expr* inner = views(e); inner; inner = views(e)) e = strip(inner);
    if (depth > 8) return true;
    if (const auto* m = dyn_cast<MemberExpr>(e)) {
      const auto* r = dyn_cast<DeclRefExpr>(strip(m->getBase()));
      if (!r) return isa<CXXThisExpr>(strip(m->getBase()));
      e = r;  // example.data
    }
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (!v) return false;
    if (v->hasGlobalStorage()) return true;
    if (isa<ParmVarDecl>(v)) return handedOut();
    // `image = image.to(type)` is part of what the image was before.
    return llvm::any_of(definitions_.of(v), [&](const Definition& d) {
      const bool itself = d.value && llvm::any_of(definitions_.uses(v), [&](const Expr* use) { return isWithin(code_, use, d.value); });
      return d.value && !d.compound && !itself && isKept(d.value, depth + 1);
    });
  }

  // The tensor that `e` is a view of, or the tensor itself with another name; null where a new one is made.
  const Expr* views(const Expr* e) const {
    const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return a->getBase();
    const FunctionDecl* f = calleeOf(e);
    if (isa<CXXConstructExpr>(e) && argumentsOf(e).size() >= 1 && dialect_.is(argumentsOf(e)[0]->getType(), Role::Tensor)) return argumentsOf(e)[0];
    if (!f || !objectOf(e)) return nullptr;
    if (isStdRecord(objectOf(e)->getType())) return objectOf(e);  // images_[index], images_.at(index)
    if (!entry || entry->role != Role::Op) return nullptr;
    const bool looks = entry->op == OpKind::Select || entry->op == OpKind::Reshape || entry->op == OpKind::Assign;
    const llvm::StringRef name = f->getDeclName().isIdentifier() ? f->getName() : "";
    return looks || name == "to" || name == "contiguous" || name == "detach" || name == "toType" || name == "unsqueeze" || name == "squeeze" ? objectOf(e) : nullptr;
  }

  // Does any data set hand out what it keeps? One of the framework's may.
  bool handedOut() const {
    bool own = false, kept = false;
    for (const Function& f : code_.functions()) {
      const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
      if (!m || !m->getDeclName().isIdentifier() || m->getName() != "get" || !dialect_.is(m->getParent(), Role::Dataset)) continue;
      own = true;
      for (const Expr* r : definitions_.returns(f.decl)) {
        const Expr* first = nullptr;  // the sample; its label comes second
        forEachExpr(r, [&](const Expr* x) {
          if (!first && dialect_.is(x->getType(), Role::Tensor)) first = x;
        });
        kept = kept || !first || isKept(first, 0);
      }
    }
    return kept || !own;
  }

  const AuthorCode& code_;
  const Dialect& dialect_;
  const Definitions& definitions_;
};

}  // namespace

std::vector<StateOfData> stateOfData(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches) {
  std::vector<StateOfData> out;
  if (!batches.shareLoaders()) return out;
  llvm::DenseSet<const ValueDecl*> told;
  const KeptTensors tensors(code, dialect, definitions);
  const DataFunctions transforms = transformsOfSamples(code, dialect);
  const DataChanges changes(code, dialect, definitions, transforms);
  for (const Function& f : code.functions()) {
    if (transforms.contains(f.decl->getCanonicalDecl()))
      forEachExpr(f.body, [&](const Expr* e) {
        const Expr* tensor = tensors.changed(e);
        const ValueDecl* d = tensor ? rootOf(tensor) : nullptr;
        if (d && told.insert(d).second) out.push_back({e, d->getNameAsString(), true});
      });
    if (!transforms.contains(f.decl->getCanonicalDecl())) continue;
    forEachExpr(f.body, [&](const Expr* e) {
      const Expr* target = changedFromBefore(e);
      if (!target) target = assignedFromBefore(code, definitions, e);
      if (const ValueDecl* d = target ? nullptr : changes.changed(e, f.decl); d && told.insert(d).second) out.push_back({e, d->getNameAsString()});
      const ValueDecl* d = target ? changes.kept(target, f.decl) : nullptr;
      if (target && !d && outlives(target, f.decl, transforms, dialect)) d = rootOf(target);
      if (!d || told.contains(d)) return;
      // Nobody may look at it but the change itself; that it begins anew elsewhere says nothing.
      const bool read = llvm::any_of(definitions.uses(d), [&](const Expr* use) {
        if (isWithin(code, use, e)) return false;
        const Stmt* below = use;
        const Stmt* p = code.parent(use);
        for (; isa_and_nonnull<ParenExpr, ImplicitCastExpr, ArraySubscriptExpr>(p); p = code.parent(p)) below = p;
        const auto* b = dyn_cast_or_null<BinaryOperator>(p);
        const auto* x = dyn_cast_or_null<Expr>(p);
        const bool set = (b && b->getOpcode() == BO_Assign && b->getLHS() == below) || (x && changedFromBefore(x) == below && !isa_and_nonnull<Expr>(code.parent(p)));
        return !set;
      });
      // `if (++n % 100 == 0)`: the change is read itself.
      const Stmt* around = code.parent(e);
      while (isa_and_nonnull<ExprWithCleanups, ParenExpr>(around)) around = code.parent(around);
      if (!read && !isa_and_nonnull<Expr>(around) && !isa_and_nonnull<IfStmt, ReturnStmt, DeclStmt>(around)) return;
      told.insert(d);
      out.push_back({e, d->getNameAsString()});
    });
  }
  return out;
}

}  // namespace hvdize
