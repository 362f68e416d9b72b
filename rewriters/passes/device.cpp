// SPDX-License-Identifier: Apache-2.0
// A device is bound to the rank where the program's choice is stored or handed on.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

bool holdsDevice(const Model& m, const ValueDecl* d) {
  return d && !d->getType()->isPointerType() && m.context.dialect.is(d->getType().getNonReferenceType(), Role::Device);
}

/// A call of an author's function that returns a variable: bound where the function chose it.
bool returnsBound(const Model& m, const Expr* value) {
  const auto targets = m.code.targets(value);
  return !targets.empty() && llvm::all_of(targets, [&](const FunctionDecl* f) {
    const auto returned = m.definitions.returns(f);
    return !returned.empty() && llvm::all_of(returned, [&](const Expr* r) {
      const ValueDecl* d = declOf(strip(r));
      return holdsDevice(m, d) && !isa<FunctionDecl>(d) && m.code.files().contains(d->getLocation());
    });
  });
}

bool isAccelerator(const Model& m, const Expr* e) {
  const auto* r = dyn_cast<DeclRefExpr>(e);
  const Entry* entry = r ? m.context.dialect.lookup(r->getDecl()) : nullptr;
  return entry && entry->role == Role::DeviceConstant && entry->value == "accelerator";
}

// Does the program name an accelerator elsewhere than where a device is chosen, `net->to(kCUDA)`, `x.cuda()`, or choose before main begins? Then
// the current one must be this rank's.
class Unbound {
 public:
  explicit Unbound(const Model& m) : m_(m) {}
  void bound(SourceRange r) { bound_.push_back(r); }
  bool inBound(SourceLocation at) const {
    const SourceManager& sm = m_.context.ast.getSourceManager();
    const auto before = [&](SourceLocation a, SourceLocation b) { return !sm.isBeforeInTranslationUnit(b, a); };
    return llvm::any_of(bound_, [&](SourceRange r) { return before(r.getBegin(), at) && before(at, r.getEnd()); });
  }
  bool any() const {
    bool found = false;
    for (const Root& r : m_.code.roots())
      if (r.in) forEachExpr(r.code, [&](const Expr* e) { found = found || names(e); });
    return found || llvm::any_of(m_.code.globals(), [&](const ValueDecl* d) {
             bool chooses = false;
             const auto* v = dyn_cast<VarDecl>(d);
             if (v && v->getInit()) forEachExpr(v->getInit(), [&](const Expr* e) { chooses = chooses || isAccelerator(m_, e); });
             return chooses;
           });
  }

 private:
  bool names(const Expr* e) const {
    const FunctionDecl* f = calleeOf(e);
    if (f && f->getDeclName().isIdentifier() && f->getName() == "cuda" && objectOf(e) && m_.context.dialect.owns(f)) return true;
    if (!isAccelerator(m_, e)) return false;
    return !inBound(e->getBeginLoc());
  }

  const Model& m_;
  std::vector<SourceRange> bound_;
};

// std::move(device), std::forward<Device>(device)
bool isMove(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  return f && f->isInStdNamespace() && (calleeName(e) == "move" || calleeName(e) == "forward") && argumentsOf(e).size() == 1;
}

void bind(Model& m, Unbound& unbound, const Expr* init) {
  if (!init) return;
  const Expr* value = strip(init);
  while (isMove(value)) value = strip(argumentsOf(value)[0]);
  if (holdsDevice(m, declOf(value)) && !isa<FunctionDecl>(declOf(value)) && m.code.files().contains(declOf(value)->getLocation()))
    return;  // a copy: bound where its original was chosen
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(value); call && m.context.dialect.is(call->getImplicitObjectArgument()->getType(), Role::Tensor))
    return;  // where a tensor is: bound when the tensor was made
  if (returnsBound(m, value)) return;
  const auto* made = dyn_cast<CXXConstructExpr>(init->IgnoreImplicit());
  SourceRange range = init->IgnoreImplicit()->getSourceRange();
  if (made && !isa<CXXTemporaryObjectExpr>(made)) {
    const auto given = argumentsOf(made);
    if (given.empty()) return;  // the framework's default
    if (given.front()->getType()->isPointerType() && isa<CXXNewExpr>(strip(given.front()))) return;  // of `new Device("cuda:0")` what is given there
    range = SourceRange(given.front()->getBeginLoc(), given.back()->getEndLoc());
  }
  unbound.bound(range);
  m.context.diags.report(DiagID::DeviceBound, range);
  m.context.edits.wrap(range, "hvd::local_device(", ")", {DiagID::DeviceBound, "this rank's device"});
}

bool isText(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && r->getName() == "basic_string";
}

// Devices of some frameworks have a number; others give a rank its own by themselves.
bool numbered(const CXXRecordDecl* device) {
  return llvm::any_of(device->ctors(), [](const CXXConstructorDecl* c) { return c->getNumParams() > 1; });
}

// `x.to(Device(kCUDA, 0))`, `.device("cuda:0")`, `.device(kCUDA, 0)`: a certain one, named where the framework is called. One that has no number is
// the current one.
SourceRange certainDevice(const Model& m, const Expr* e) {
  const auto certain = [&](llvm::ArrayRef<const Expr*> given) {
    if (given.empty() || given.front()->getBeginLoc().isMacroID()) return false;
    const QualType first = strip(given.front())->getType();
    return given.size() > 1 ? first->isEnumeralType() && given[1]->getType()->isIntegerType() : isa<StringLiteral>(strip(given.front())) || isText(first);
  };
  const auto* made = dyn_cast<CXXConstructExpr>(e);
  if (made && m.context.dialect.is(made->getType(), Role::Device) && !made->getConstructor()->isCopyOrMoveConstructor() && numbered(made->getConstructor()->getParent()) &&
      certain(argumentsOf(made))) {
    const Expr* whole = made;  // Device("cuda:0") is a cast around it
    while (const auto* cast = dyn_cast_or_null<CXXFunctionalCastExpr>(m.code.parent(whole))) whole = cast;
    const auto given = argumentsOf(made);
    // Of `Device device("cuda:0")` and `new Device("cuda:0")` what is given; the name in front is no part of a value, as braces are.
    return whole == made && !isa<CXXTemporaryObjectExpr>(made) && !llvm::StringRef(m.text(made)).starts_with("{") ? SourceRange(given.front()->getBeginLoc(), given.back()->getEndLoc()) : whole->getSourceRange();
  }
  const FunctionDecl* f = isa<CallExpr>(e) ? calleeOf(e) : nullptr;
  if (!f || !m.context.dialect.owns(f) || !f->getDeclName().isIdentifier() || f->getName() != "device") return {};
  const auto given = argumentsOf(e);
  return certain(given) ? SourceRange(given.front()->getBeginLoc(), given.back()->getEndLoc()) : SourceRange();
}

// Is this what makes a device, or options that hold one, of the constant it is given?
bool takesDevice(const Model& m, const Stmt* s) {
  if (const auto* made = dyn_cast<CXXConstructExpr>(s)) {
    const CXXConstructorDecl* by = made->getConstructor();
    if (m.context.dialect.is(made->getType(), Role::Device)) return numbered(by->getParent()) && argumentsOf(made).size() == 1;
    return m.context.dialect.owns(by) && by->getPrimaryTemplate() && !isa<ClassTemplateSpecializationDecl>(by->getParent());
  }
  const FunctionDecl* f = isa<CallExpr>(s) ? calleeOf(cast<Expr>(s)) : nullptr;
  return f && m.context.dialect.owns(f) && f->getDeclName().isIdentifier() && f->getName() == "device" && argumentsOf(cast<Expr>(s)).size() == 1;
}

// `x.to(kCUDA)` where a loader's workers or other threads may come: the current GPU is a thread's own matter, and the first one where nobody has
// chosen.
SourceRange deviceOfThread(const Model& m, const Expr* e) {
  if (!isAccelerator(m, e) || !e->getType()->isEnumeralType() || e->getBeginLoc().isMacroID() || !m.threads.mayRun(e)) return {};
  for (const Stmt* p = m.code.parent(e); p; p = m.code.parent(p)) {
    if (takesDevice(m, p)) return e->getSourceRange();
    if (!isa<ImplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(p)) return {};
  }
  return {};
}

void bindIn(Model& m, Unbound& unbound, const Stmt* s) {
  if (!s) return;
  if (const auto* ds = dyn_cast<DeclStmt>(s))
    for (const Decl* d : ds->decls())
      if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit() && holdsDevice(m, v)) bind(m, unbound, v->getInit());
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(s); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2)
    if (holdsDevice(m, declOf(o->getArg(0)))) bind(m, unbound, o->getArg(1));
  // A device that is chosen in the call of an author's function.
  if (const auto* e = dyn_cast<Expr>(s); e && !m.code.targets(e).empty()) {
    const auto arguments = argumentsOf(e);
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (const ParmVarDecl* p = parameterOf(e, i); p && holdsDevice(m, p)) bind(m, unbound, arguments[i]);
  }
  if (const auto* e = dyn_cast<Expr>(s))
    if (const SourceRange given = certainDevice(m, e), range = given.isValid() ? given : deviceOfThread(m, e); range.isValid() && !range.getBegin().isMacroID() && !unbound.inBound(range.getBegin())) {
      unbound.bound(range);
      m.context.diags.report(DiagID::DeviceBound, range);
      m.context.edits.wrap(range, "hvd::local_device(", ")", {DiagID::DeviceBound, "this rank's device"});
    }
  if (isa<LambdaExpr>(s)) return;  // its body is a function of its own
  for (const Stmt* c : s->children()) bindIn(m, unbound, c);
}

}  // namespace

void bindDevices(Model& m) {
  Unbound unbound(m);
  for (const Root& r : m.code.roots())
    if (r.initialises && holdsDevice(m, r.initialises)) bind(m, unbound, cast<Expr>(r.code));
    else if (r.in) bindIn(m, unbound, r.code);
  if (!unbound.any()) return;
  const Stmt* body = m.code.find(m.main)->body;
  if (const auto* tried = dyn_cast<CXXTryStmt>(body)) body = tried->getTryBlock();
  m.context.diags.report(DiagID::DeviceBound, m.main->getLocation());
  m.context.edits.insertAtStart(body, "hvd::bind_device();", {DiagID::DeviceBound, "this rank's GPU is the current one"});
}

}  // namespace hvdize
