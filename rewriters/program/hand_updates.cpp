// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/hand_updates.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kDeepest = 8;

llvm::StringRef methodOf(const Expr* e) {
  const auto* call = dyn_cast<CXXMemberCallExpr>(e);
  return call ? calleeName(call) : "";
}

// What `.data()` and the like give is the parameter itself.
const Expr* parameterIn(const Expr* e) {
  for (e = strip(e); const Expr* object = isa<CXXMemberCallExpr>(e) ? objectOf(e) : nullptr; e = strip(object)) {
    const llvm::StringRef name = methodOf(e);
    if (name != "data" && name != "variable_data" && name != "detach") break;
  }
  return e;
}

// The parameter that an expression changes: `w -= ..`, `w.data() = ..`, `w.sub_(..)`, `w.set_data(..)`; null for any other.
const Expr* changedBy(const Expr* e) {
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->isAssignmentOp() ? parameterIn(o->getArg(0)) : nullptr;
  const llvm::StringRef name = methodOf(e);
  const bool inPlace = name.size() > 1 && name.ends_with("_") && !name.starts_with("requires_grad");
  return inPlace || name == "set_data" ? parameterIn(objectOf(e)) : nullptr;
}

class Finder {
 public:
  explicit Finder(Model& m) : m_(m) {}

  std::vector<HandUpdate> find() {
    for (const Site& s : m_.sites.of(Role::GradRead)) consider(s);
    if (!updates_) return {};
    llvm::stable_sort(reads_, [&](const Read& a, const Read& b) { return begins(a.read) < begins(b.read); });
    std::vector<HandUpdate> out;
    for (const Read& r : reads_)
      if (out.empty() || !join(out.back(), r)) out.push_back(made(r));
    for (HandUpdate& u : out) {
      findStart(u);
      if (!u.start) findModels(u);
    }
    return out;
  }

 private:
  struct Read {
    const Expr* read;
    const Expr* parameter;
    const Stmt* before;
    const Expr* named;  // the parameter, or the list it is taken from
    bool list;
    bool updates;  // and not only looked at
  };

  SourceLocation begins(const Stmt* s) const { return m_.context.ast.getSourceManager().getExpansionLoc(s->getBeginLoc()); }
  std::string text(const Expr* e) const { return m_.text(strip(e)); }

  // Does something in the function of the read change the same parameter?
  bool isUpdated(const Site& s, const std::string& parameter) const {
    const Function* known = s.function ? m_.code.find(s.function) : nullptr;
    bool yes = false;
    if (known) forEachExpr(known->body, [&](const Expr* e) {
      const Expr* changed = yes ? nullptr : changedBy(e);
      yes = yes || (changed && text(changed) == parameter);
    });
    return yes;
  }

  // `w.grad().zero_()`, `w.grad().defined()`, `w.mutable_grad() = {}`: whole or not, the gradient makes no difference.
  bool isOnlyCleared(const Expr* read) const {
    const Stmt* p = read;
    for (const Stmt* up = m_.code.parent(p); up; p = up, up = m_.code.parent(up)) {
      if (const auto* o = dyn_cast<CXXOperatorCallExpr>(up)) return o->getOperator() == OO_Equal && strip(o->getArg(0)) == strip(read);
      const auto* call = dyn_cast<CXXMemberCallExpr>(up);
      if (!call) {
        if (!isa<Expr>(up) || isa<CallExpr, CXXConstructExpr>(up)) return false;
        continue;
      }
      const llvm::StringRef name = methodOf(call);
      if (name != "data" && name != "detach" && name != "detach_") return name == "zero_" || name == "defined" || name == "reset";
    }
    return false;
  }

  void consider(const Site& s) {
    const auto arguments = argumentsOf(s.call);
    const bool given = s.entry->arg >= 0 && s.entry->arg < static_cast<int>(arguments.size());  // clip_grad_norm_(parameters, ..)
    const Expr* object = given ? arguments[s.entry->arg] : s.entry->arg < 0 && s.entry->optimizer < 0 ? objectOf(s.call) : nullptr;
    if (!object || !s.function || !m_.context.edits.canEdit(s.call->getSourceRange()) || isOnlyCleared(s.call)) return;
    const Expr* parameter = parameterIn(object);
    if (!isTensor(parameter) && !isList(parameter)) return;
    if (m_.kinds.of(parameter).dependsOnSamples()) return;
    const bool updates = !given && isUpdated(s, text(parameter));
    updates_ = updates_ || updates;
    // The instantiations of a template share their text.
    if (llvm::any_of(reads_, [&](const Read& r) { return begins(r.read) == begins(s.call) && text(r.parameter) == text(parameter); })) return;
    Read r{s.call, parameter, conditionAround(s.call, text(parameter)), parameter, !isTensor(parameter), updates};
    // Once before the outermost loop over parameters, where they have a name there.
    llvm::SmallVector<const Stmt*, 4> loops;
    for (const Stmt* loop : m_.sites.loopsAround(s.call)) {
      if (m_.sites.reaches(loop, Role::Backward)) break;
      loops.push_back(loop);
    }
    for (const Stmt* loop : llvm::reverse(loops)) {
      const Expr* named = namedBefore(parameter, loop, 0);
      if (!named) continue;
      r.before = conditionAround(loop, text(named));
      r.named = named;
      r.list = !isTensor(named);
      break;
    }
    r.before = outOfGuards(r.before, parameter);
    reads_.push_back(r);
  }

  // `if (w.grad().defined()) w -= ..;` is decided alike on all ranks once the gradient is whole.
  const Stmt* conditionAround(const Stmt* s, const std::string& parameter) const {
    const Stmt* out = m_.statementOf(s);
    for (const Stmt* p = out; p && !m_.sites.reaches(p, Role::Backward); p = m_.code.parent(p)) {
      const auto* branch = dyn_cast<IfStmt>(p);
      if (isLoop(p) && p != out) break;
      bool asks = false;
      if (branch) forEachExpr(branch->getCond(), [&](const Expr* e) {
        asks = asks || (methodOf(e) == "grad" && text(parameterIn(objectOf(e))) == parameter);
      });
      if (asks) out = m_.statementOf(branch);
    }
    return out;
  }

  // `{ NoGradGuard guard; w -= ..; }`: the reduction stands in front of the block.
  const Stmt* outOfGuards(const Stmt* s, const Expr* parameter) const {
    for (;;) {
      const auto* block = dyn_cast_or_null<CompoundStmt>(m_.code.parent(s));
      if (!block || !isa_and_nonnull<CompoundStmt>(m_.code.parent(block)) || m_.sites.reaches(block, Role::Backward) || !isNamedBefore(parameter, block)) return s;
      s = block;
    }
  }

  // Is every variable that `e` names there already in front of `s`?
  bool isNamedBefore(const Expr* e, const Stmt* s) const {
    bool good = true;
    forEachExpr(e, [&](const Expr* x) {
      const auto* r = dyn_cast<DeclRefExpr>(x);
      const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
      if (r && isa<BindingDecl>(r->getDecl())) good = false;
      if (!v || !v->isLocalVarDecl()) return;
      const SourceManager& sm = m_.context.ast.getSourceManager();
      good = good && sm.isBeforeInTranslationUnit(v->getLocation(), s->getBeginLoc());
    });
    return good;
  }

  bool isTensor(const Expr* e) const { return m_.context.dialect.is(e->getType().getNonReferenceType(), Role::Tensor); }

  // The expression that names the parameter, or the list that it is taken from, in front of `s`; null where there is none.
  const Expr* namedBefore(const Expr* e, const Stmt* s, unsigned depth) const {
    e = parameterIn(e);
    if (depth > kDeepest) return nullptr;
    if (isNamedBefore(e, s) && mayName(e)) return isTensor(e) || isList(e) ? e : nullptr;
    if (methodOf(e) == "value") return namedBefore(objectOf(e), s, depth + 1);  // of an item of named parameters
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript)
      return isList(o->getArg(0)) && isNamedBefore(o->getArg(0), s) && mayName(o->getArg(0)) ? strip(o->getArg(0)) : nullptr;
    const auto* r = dyn_cast<DeclRefExpr>(e);
    const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
    if (!v) return nullptr;
    for (const Stmt* p = m_.code.parent(e); p; p = m_.code.parent(p)) {
      const auto* loop = dyn_cast<CXXForRangeStmt>(p);
      if (!loop || loop->getLoopVariable() != v) continue;
      const Expr* range = strip(loop->getRangeInit());
      return isNamedBefore(range, s) && isList(range) && mayName(range) ? range : nullptr;
    }
    const bool second = v->getType()->isReferenceType() || m_.context.dialect.is(v->getType(), Role::Tensor) || isList(e);
    const auto definitions = m_.definitions.of(v);
    return second && definitions.size() == 1 && definitions[0].value && !definitions[0].compound ? namedBefore(definitions[0].value, s, depth + 1) : nullptr;
  }

  bool mayName(const Expr* e) const { return m_.mayNameAgain(e) || isParameters(e); }
  bool isParameters(const Expr* e) const {
    const Expr* object = calleeOf(e) && m_.context.dialect.is(e, Role::Parameters) ? objectOf(e) : nullptr;
    return object && m_.mayNameAgain(pointed(object));
  }

  // A list that can be given as it is: vectors and arrays of tensors, a dictionary of parameters, names in braces.
  bool isList(const Expr* e) const {
    if (isParameters(strip(e))) return true;
    if (isa<InitListExpr, CXXStdInitializerListExpr>(strip(e))) return true;
    const auto* r = dyn_cast_or_null<ClassTemplateSpecializationDecl>(e->getType().getNonReferenceType()->getAsCXXRecordDecl());
    if (!r || !r->isInStdNamespace() || (r->getName() != "vector" && r->getName() != "array") || r->getTemplateArgs().size() == 0) return false;
    return r->getTemplateArgs()[0].getKind() == TemplateArgument::Type && m_.context.dialect.is(r->getTemplateArgs()[0].getAsType(), Role::Tensor);
  }

  HandUpdate made(const Read& r) const {
    HandUpdate u;
    u.read = r.read;
    u.before = r.before;
    add(u, r);
    return u;
  }

  // Updates that follow each other are one step: the same block, and no backward pass between them.
  bool join(HandUpdate& u, const Read& r) const {
    const auto* block = dyn_cast_or_null<CompoundStmt>(m_.code.parent(u.before));
    if (r.before != u.before) {
      if (!block || m_.code.parent(r.before) != block || !isNamedBefore(r.parameter, u.before)) return false;
      bool between = false;
      for (const Stmt* c : block->body()) {
        if (c == r.before) break;
        between = between || c == u.before;
        if (between && m_.sites.reaches(c, Role::Backward)) return false;
      }
      if (m_.sites.reaches(r.before, Role::Backward)) return false;
    }
    add(u, r);
    return true;
  }

  void add(HandUpdate& u, const Read& r) const {
    u.updates = u.updates || r.updates;
    const auto addTo = [&](std::vector<const Expr*>& named, const Expr* added) {
      if (llvm::none_of(named, [&](const Expr* e) { return text(e) == text(added); })) named.push_back(added);
    };
    const Expr* e = r.named;
    if (const auto* made = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(made->getSubExpr());
    if (const auto* list = dyn_cast<InitListExpr>(e))  // {w, b}
      for (const Expr* each : list->inits()) addTo(u.tensors, pointed(each));  // {&w, &b} as well
    else addTo(r.list ? u.lists : u.tensors, e);
  }

  static const FieldDecl* memberOfThis(const Expr* e) {
    const auto* member = dyn_cast<MemberExpr>(strip(e));
    return member && isa<CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()) ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
  }
  static bool isMethodOf(const FunctionDecl* f, const RecordDecl* r) {
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    return method && method->getParent()->getCanonicalDecl() == r->getCanonicalDecl();
  }

  // Behind copies and moves.
  static const Expr* source(const Expr* e) {
    for (;;) {
      e = strip(e);
      const auto* made = dyn_cast<CXXConstructExpr>(e);
      const auto* call = dyn_cast<CallExpr>(e);
      const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
      if (made && made->getNumArgs() == 1) e = made->getArg(0);
      else if (callee && callee->isInStdNamespace() && callee->getDeclName().isIdentifier() && callee->getName() == "move" && call->getNumArgs() == 1) e = call->getArg(0);
      else return e;
    }
  }

  // `Lion rule(net->parameters(), rate)`: what the object of `call` was given for a member that its constructor's initialisers make of it.
  const Expr* madeFrom(const FieldDecl* field, const Expr* call) const {
    const Expr* object = objectOf(call);
    const auto* r = object ? dyn_cast<DeclRefExpr>(strip(object)) : nullptr;
    const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
    const auto* made = v && v->getInit() ? dyn_cast<CXXConstructExpr>(strip(v->getInit())) : nullptr;
    const FunctionDecl* body = nullptr;
    if (!made || !made->getConstructor()->hasBody(body)) return nullptr;
    for (const CXXCtorInitializer* i : cast<CXXConstructorDecl>(body)->inits()) {
      if (i->getAnyMember() != field) continue;
      const auto* given = dyn_cast<DeclRefExpr>(source(i->getInit()));
      const auto* parameter = given ? dyn_cast<ParmVarDecl>(given->getDecl()) : nullptr;
      return parameter && parameter->getFunctionScopeIndex() < made->getNumArgs() ? source(made->getArg(parameter->getFunctionScopeIndex())) : nullptr;
    }
    return nullptr;
  }

  // The outermost loop that trains around the step, here or in the only function that calls this one, and what names them there.
  void findStart(HandUpdate& u) const {
    const FunctionDecl* f = m_.code.functionOf(u.read);
    const Stmt* at = u.before;
    std::vector<const Expr*> named = u.tensors;
    named.insert(named.end(), u.lists.begin(), u.lists.end());
    for (unsigned depth = 0; f && depth < kDeepest; ++depth) {
      const Stmt* loop = nullptr;
      for (const Stmt* p = at; p; p = m_.code.parent(p))
        if (isLoop(p) && m_.sites.reaches(p, Role::Backward)) loop = p;
      for (const Expr*& e : named)
        if (loop && !(e = namedBefore(e, loop, 0))) return;
      const auto changes = [](const Expr* e) { return !e->getType().getNonReferenceType().isConstQualified(); };
      if (loop && llvm::all_of(named, changes)) {
        u.start = loop;
        u.initial = named;
      }
      const auto callers = m_.code.callers(f);
      if (loop || callers.size() != 1 || !callers[0].caller) return;
      const auto arguments = argumentsOf(callers[0].call);
      for (const Expr*& e : named)
        for (unsigned i = 0; i < f->getNumParams() && i < arguments.size(); ++i)
          if (const auto* r = dyn_cast<DeclRefExpr>(strip(e)); r && r->getDecl() == f->getParamDecl(i)) {
            e = strip(arguments[i]);
            break;
          }
      const FunctionDecl* caller = m_.code.functionOf(callers[0].call);
      for (const Expr*& e : named)
        if (const FieldDecl* field = memberOfThis(e); field && !isMethodOf(caller, field->getParent()) && !(e = madeFrom(field, callers[0].call))) return;
      if (!llvm::all_of(named, [&](const Expr* e) { return m_.code.functionOf(e) != f || isa<CXXMethodDecl>(f); })) return;
      at = m_.statementOf(callers[0].call);
      f = m_.code.functionOf(callers[0].call);
    }
  }

  // Where the parameters have no name (a list that a constructor fills): the models that the training loop uses and that stand in front of it.
  void findModels(HandUpdate& u) const {
    const FunctionDecl* f = m_.code.functionOf(u.read);
    const Stmt* at = u.before;
    for (unsigned depth = 0; f && depth < kDeepest; ++depth) {
      const Stmt* loop = nullptr;
      for (const Stmt* p = at; p; p = m_.code.parent(p))
        if (isLoop(p) && m_.sites.reaches(p, Role::Backward)) loop = p;
      const auto callers = m_.code.callers(f);
      if (!loop && (callers.size() != 1 || !callers[0].caller)) return;
      if (!loop) {
        at = m_.statementOf(callers[0].call);
        f = m_.code.functionOf(callers[0].call);
        continue;
      }
      if (!m_.context.edits.canEdit(loop->getSourceRange())) return;
      forEachExpr(loop, [&](const Expr* e) {
        const QualType t = e->getType().getNonReferenceType();
        const bool named = isa<DeclRefExpr>(e) || memberOfThis(e);
        if (!named || t.isConstQualified() || !m_.context.dialect.is(t, Role::Module) || m_.context.dialect.is(t, Role::LossModule)) return;
        if (!isNamedBefore(e, loop) || llvm::any_of(u.initial, [&](const Expr* known) { return text(known) == text(e); })) return;
        u.start = loop;
        u.initial.push_back(e);
      });
      return;
    }
  }

  Model& m_;
  std::vector<Read> reads_;
  bool updates_ = false;
};

}  // namespace

std::vector<HandUpdate> updatesByHand(Model& m) {
  if (!m.sites.of(Role::Step).empty() || m.sites.of(Role::Backward).empty()) return {};
  return Finder(m).find();
}

std::vector<const Expr*> updatesWithGradientsOf(Model& m) {
  std::vector<const Expr*> out;
  for (const Site& s : m.sites.of(Role::GradOf)) {
    const auto loops = m.sites.loopsAround(s.call);
    const Stmt* loop = loops.empty() ? nullptr : loops.back();
    if (!loop) continue;
    llvm::DenseSet<const ValueDecl*> gradients;  // variables that hold them, or one of them
    const auto holds = [&](const Stmt* tree) {
      bool yes = false;
      forEachExpr(tree, [&](const Expr* e) { yes = yes || e == s.call || (isa<DeclRefExpr>(e) && gradients.count(declOf(e))); });
      return yes;
    };
    bool updates = false;
    for (bool grows = true; grows && !updates;) {
      const size_t before = gradients.size();
      forEachExpr(loop, [&](const Expr* e) {
        if (const ValueDecl* d = isa<DeclRefExpr>(e) ? declOf(e) : nullptr; d && !gradients.count(d) && isa<VarDecl>(d))
          if (llvm::any_of(m.definitions.of(d), [&](const Definition& def) { return def.value && isWithin(m.code, def.value, loop) && holds(def.value); })) gradients.insert(d);
        const Expr* changed = changedBy(e);
        const auto* v = changed ? dyn_cast_or_null<VarDecl>(rootOf(changed)) : nullptr;
        const bool own = v && m.code.declStmt(v) && isWithin(m.code, m.code.declStmt(v), loop) && !v->getType()->isReferenceType() && !isa<CXXForRangeStmt>(m.code.parent(m.code.declStmt(v)));
        // Parameters that a list made within the loop holds are those of the model.
        const bool listed = own && !m.context.dialect.is(v->getType(), Role::Tensor);
        if (changed && m.context.dialect.is(changed->getType(), Role::Tensor) && (!own || listed)) updates = updates || llvm::any_of(argumentsOf(e), holds);
      });
      grows = gradients.size() != before;
    }
    if (updates) out.push_back(s.call);
  }
  return out;
}

}  // namespace hvdize
