// SPDX-License-Identifier: Apache-2.0
// Changes in place of a batch that is a part of something that lives longer than the step: `auto x = data.slice(0, i, i + n); x.mul_(0.9);`
// writes into `data`, and on a rank into this rank's rows of it only.
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// Does the call get the option `inplace(true)`?
bool worksInPlace(const Expr* given) {
  bool found = false;
  forEachExpr(given, [&](const Expr* x) {
    if (!calleeOf(x) || calleeName(x) != "inplace" || argumentsOf(x).empty()) return;
    const auto* says = dyn_cast<CXXBoolLiteralExpr>(strip(argumentsOf(x)[0]));
    found = found || !says || says->getValue();
  });
  return found;
}

class ChangedParts {
 public:
  ChangedParts(const Dialect& dialect, const Definitions& definitions, const Batches& batches)
      : dialect_(dialect), definitions_(definitions), code_(definitions.code()), batches_(batches) {}

  /// The name of what `e` changes in place by one of its parts that a step takes as its batch; null if it does not.
  const ValueDecl* changed(const Expr* e) {
    const Expr* target = writtenBy(e);
    if (!target || !dialect_.is(target->getType(), Role::Tensor)) return nullptr;
    seen_.clear();
    return partOf(target, false, false);
  }

 private:
  // What is written into, under whatever name it has.
  const Expr* writtenBy(const Expr* e) const {
    const FunctionDecl* f = calleeOf(e);
    const Entry* entry = f ? dialect_.lookup(e) : nullptr;
    const auto given = f ? argumentsOf(e) : llvm::SmallVector<const Expr*, 4>();
    if (!entry) return f && dialect_.owns(f) && !given.empty() && calleeName(e).ends_with("_out") ? given[0] : nullptr;  // mul_out(result, a, b)
    const Expr* object = objectOf(e);
    if (entry->role == Role::Forward) {
      // A layer, or the first one of a sequence, that works in place.
      const auto works = [](const Expr* made) {
        const auto layers = argumentsOf(made);
        return !layers.empty() && worksInPlace(layers[0]);
      };
      return object && !given.empty() && llvm::any_of(definitions_.origins(object), works) ? given[0] : nullptr;
    }
    // leaky_relu(x, LeakyReLUFuncOptions().inplace(true))
    if (!object && given.size() > 1 && (entry->role == Role::Op || entry->role == Role::RandomDraw) && worksInPlace(given[1])) return given[0];
    if (!object) object = argumentsOf(e).empty() ? nullptr : argumentsOf(e)[0];  // relu_(x)
    if (!object) return nullptr;
    const llvm::StringRef name = calleeName(e);
    if (entry->role == Role::RandomDraw) return name.ends_with("_") ? object : nullptr;
    if (entry->role != Role::Op || (entry->op != OpKind::Assign && entry->op != OpKind::Scatter)) return nullptr;
    if (name == "detach_" || name == "set_data" || name == "set_" || name == "resize_") return nullptr;
    // `x = y`, `parts["x"] = y` of a map name another tensor; `x[0] = y`, `x.slice(..) = y` write.
    const Expr* to = strip(object);
    const bool another = f->getOverloadedOperator() == OO_Equal && (isName(object) || (to->isLValue() && !batches_.shards().count(to)));
    return another ? nullptr : object;
  }

  static bool isName(const Expr* e) { return isa<DeclRefExpr, MemberExpr>(strip(e)); }

  // The tensor that `e` is a view of, or the same tensor; null where a new one is made. `perhaps`: a copy where types or devices differ.
  const Expr* viewed(const Expr* e, bool& perhaps) const {
    if (const auto* k = dyn_cast<CXXConstructExpr>(e))
      return argumentsOf(k).size() == 1 && dialect_.is(argumentsOf(k)[0]->getType(), Role::Tensor) ? argumentsOf(k)[0] : nullptr;
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return a->getBase();
    if (!calleeOf(e)) return nullptr;
    const Expr* object = objectOf(e);
    if (object && isStdRecord(object->getType())) return object;  // batches[i], batches.at(i)
    const Entry* entry = dialect_.lookup(e);
    const auto arguments = argumentsOf(e);
    if (!object && entry && !arguments.empty() && dialect_.is(arguments[0]->getType(), Role::Tensor)) object = arguments[0];
    if (!object || !entry || entry->role != Role::Op) return nullptr;
    const llvm::StringRef name = calleeName(e);
    if (entry->op == OpKind::Assign || entry->op == OpKind::Reshape) return name == "repeat" ? nullptr : object;
    if (entry->op == OpKind::Select) {
      if (name == "index_select" || name == "gather" || name == "take" || name == "scatter") return nullptr;
      return takesByTensor(e) ? nullptr : object;
    }
    if (name == "detach" || name == "contiguous" || name == "alias" || name == "data" || name == "variable_data") return object;
    if (name != "to" && name != "cuda" && name != "cpu") return nullptr;
    // to(kFloat32): whoever converts has another type before.
    if (llvm::any_of(arguments, [](const Expr* a) { return a->getType().getCanonicalType().getUnqualifiedType().getAsString().find("ScalarType") != std::string::npos; })) return nullptr;
    perhaps = true;
    return object;
  }

  // x.index({rows}), x[rows]: by a tensor of positions, which copies.
  bool takesByTensor(const Expr* e) const {
    const llvm::StringRef name = calleeName(e);
    if (calleeOf(e)->getDeclName().isIdentifier() && name != "index") return false;
    // A size of a tensor, within an index, is a number.
    const auto isPositions = [&](const Expr* x) {
      const auto* k = dyn_cast<CXXConstructExpr>(x);
      const Expr* given = k && k->getNumArgs() >= 1 ? k->getArg(0) : nullptr;
      return given && !dialect_.is(k->getType(), Role::Tensor) && dialect_.is(given->getType(), Role::Tensor);
    };
    return llvm::any_of(argumentsOf(e), [&](const Expr* a) {
      bool found = dialect_.is(a->getType(), Role::Tensor);
      forEachExpr(a, [&](const Expr* x) { found = found || isPositions(x); });
      return found;
    });
  }

  // `below`: a name or a view was followed on the way. What one statement cuts out and changes, `auto x = data.slice(..).mul_(0.9)`, does not matter where
  // nothing else looks at it.
  const ValueDecl* partOf(const Expr* e, bool below, bool perhaps) {
    e = strip(e);
    if (!e || !seen_.insert(e).second) return nullptr;
    bool copied = perhaps;
    if (batches_.shards().count(e)) return keptBy(e, perhaps || !below);
    if (const Expr* inner = viewed(e, copied)) return partOf(inner, true, copied);
    const ValueDecl* d = isName(e) ? declOf(e) : nullptr;
    if (d)
      for (const Definition& def : definitions_.of(d))
        if (def.value && !def.compound && !isCopiedIn(d, def.value))
          if (const ValueDecl* kept = partOf(def.value, true, perhaps)) return kept;
    const FunctionDecl* f = calleeOf(e);
    if (f && code_.find(f))
      for (const Expr* r : definitions_.returns(f))
        if (const ValueDecl* kept = partOf(r, true, perhaps)) return kept;
    return nullptr;
  }

  // rows[i] = kept[k]: numbers of the one are written into the other.
  bool isCopiedIn(const ValueDecl* d, const Expr* value) const { return dialect_.is(d->getType(), Role::Tensor) && givesPart(code_, value); }

  // What lives longer than the step and has the batch in it; null where the batch is a copy.
  const ValueDecl* keptBy(const Expr* e, bool perhaps) {
    e = strip(e);
    bool copied = perhaps;
    if (const Expr* inner = viewed(e, copied)) return keptBy(inner, copied);
    const ValueDecl* d = isName(e) ? declOf(e) : nullptr;
    if (!d) return nullptr;
    const auto* v = dyn_cast<VarDecl>(d);
    const bool local = v && !v->hasGlobalStorage() && !isa<ParmVarDecl>(v);
    if (local && code_.declStmt(v) && batches_.inStep(code_.declStmt(v)) > 0) {
      if (isa_and_nonnull<CXXForRangeStmt>(code_.parent(code_.declStmt(v)))) return perhaps ? nullptr : d;
      for (const Definition& def : definitions_.of(d))
        if (def.value && !def.compound && !isCopiedIn(d, def.value) && seen_.insert(def.value).second)
          if (const ValueDecl* kept = keptBy(def.value, perhaps)) return kept;
      return nullptr;
    }
    return !perhaps || isReadElsewhere(d, 0) ? d : nullptr;
  }

  // Is it looked at otherwise than by the batches that are cut from it?
  bool isReadElsewhere(const ValueDecl* d, unsigned depth) const {
    if (depth > 3) return true;
    if (isa<ParmVarDecl>(d))
      for (const Definition& def : definitions_.of(d))
        if (const ValueDecl* given = def.value ? rootOf(def.value) : nullptr; given && given != d && isReadElsewhere(given, depth + 1)) return true;
    return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
      for (const Stmt* p = use; isa_and_nonnull<Expr>(p); p = code_.parent(p)) {
        const auto* x = cast<Expr>(p);
        if (batches_.shards().count(x)) return false;
        const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
        if (entry && entry->role == Role::Op && (entry->op == OpKind::Size || entry->op == OpKind::ElementCount || entry->op == OpKind::ShapeOnly)) return false;
        if (calleeOf(x) && code_.find(calleeOf(x))) return false;  // handed to a function: see there
      }
      return true;
    });
  }

  const Dialect& dialect_;
  const Definitions& definitions_;
  const AuthorCode& code_;
  const Batches& batches_;
  llvm::DenseSet<const Expr*> seen_;
};

}  // namespace

const VarDecl* referenceTo(const AuthorCode& code, const Expr* batch) {
  for (const Stmt* p = batch; isa_and_nonnull<Expr>(p); p = code.parent(p)) {
    if (const VarDecl* v = code.variableInitialisedBy(p)) return v->getType()->isLValueReferenceType() && !v->getType()->getPointeeType().isConstQualified() ? v : nullptr;
    if (p != batch && !isa<ParenExpr, ImplicitCastExpr, ExprWithCleanups, CXXBindTemporaryExpr>(p)) return nullptr;
  }
  return nullptr;
}

bool isChangedThere(const AuthorCode& code, const Dialect& dialect, const Expr* e) {
  const Stmt* p = code.parent(e);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(p)) p = code.parent(p);
  const auto* call = dyn_cast_or_null<Expr>(p);
  const Entry* entry = call && calleeOf(call) && objectOf(call) && strip(objectOf(call)) == strip(e) ? dialect.lookup(call) : nullptr;
  return entry && entry->role == Role::Op && (entry->op == OpKind::Assign || entry->op == OpKind::Scatter);
}

std::vector<StateOfData> partsChanged(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches) {
  std::vector<StateOfData> out;
  if (batches.shards().empty()) return out;
  ChangedParts parts(dialect, definitions, batches);
  llvm::DenseSet<SourceLocation> told;  // of x.mul_(a).add_(b) once
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const ValueDecl* kept = parts.changed(e);
      if (kept && told.insert(e->getBeginLoc()).second) out.push_back({e, kept->getNameAsString(), true});
    });
  // auto& x = batches[i]; x = 0.9 * x;
  for (const Expr* s : batches.shards()) {
    const VarDecl* v = referenceTo(code, s);
    const ValueDecl* root = v ? rootOf(s) : nullptr;
    for (const Definition& def : v && root ? definitions.of(v) : llvm::ArrayRef<Definition>())
      if (def.value && def.value != v->getInit() && told.insert(def.value->getBeginLoc()).second) out.push_back({def.value, root->getNameAsString(), true});
  }
  return out;
}

}  // namespace hvdize
