// SPDX-License-Identifier: Apache-2.0
// Where optimizers are made, and the place from which the program can name each: behind the statement that makes it, where a function that
// makes it returns to, or in the function that gets it.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

// A call that makes or keeps an optimizer in what it is called on: what names the optimizer afterwards (`list.back()`, `pointer`), else nothing.
std::string keptIn(const Model& m, const Stmt* call) {
  const auto* member = dyn_cast<CXXMemberCallExpr>(call);
  const FunctionDecl* f = member ? member->getDirectCallee() : nullptr;
  const auto* callee = member ? dyn_cast<MemberExpr>(member->getCallee()->IgnoreParens()) : nullptr;
  if (!f || !f->getDeclName().isIdentifier() || !callee || callee->isImplicitAccess() || m.files.contains(f->getLocation())) return "";
  const std::string object = m.text(callee->getBase());
  if (f->getName() == "push_back" || f->getName() == "emplace_back") return object + (callee->isArrow() ? "->back()" : ".back()");
  if (callee->isArrow()) return "";
  if (f->getName() == "reset" && m.context.dialect.is(callee->getBase()->getType(), Role::Optimizer)) return object;
  const Entry* made = f->getName() == "emplace" ? m.context.dialect.lookup(m.madeInPlace(cast<Expr>(call))) : nullptr;
  return made && made->role == Role::Optimizer ? "*" + object : "";  // an optional
}

// The member that a constructor makes from its parameter in its list of initialisers.
const FieldDecl* memberMadeFrom(const FunctionDecl* f, const ParmVarDecl* p) {
  const auto* ctor = dyn_cast<CXXConstructorDecl>(f);
  if (!ctor) return nullptr;
  for (const CXXCtorInitializer* init : ctor->inits()) {
    bool names = false;
    if (init->isWritten() && init->getAnyMember()) forEachExpr(init->getInit(), [&](const Expr* e) { names = names || declOf(e) == p; });
    if (names) return init->getAnyMember();
  }
  return nullptr;
}

// `Impl{net, SGD(..)}`: the member that the expression `below` becomes, in front of what is known of it.
void enter(const InitListExpr* list, const Stmt* below, const CXXRecordDecl*& around, std::string& member) {
  around = list->getType()->getAsCXXRecordDecl();
  unsigned i = 0;
  for (const FieldDecl* f : around ? around->fields() : RecordDecl::field_range(RecordDecl::field_iterator(), RecordDecl::field_iterator()))
    if (i < list->getNumInits() && list->getInit(i++) == below) member = "." + f->getNameAsString() + member;
}

// What a variable or a member names that holds such an object, or points to it; nothing for others.
std::string heldBy(const ValueDecl* holder, const CXXRecordDecl* around, const std::string& member) {
  if (!around) return "";
  const QualType t = holder->getType().getNonReferenceType();
  const auto is = [&](QualType x) { return x->getAsCXXRecordDecl() && x->getAsCXXRecordDecl()->getCanonicalDecl() == around->getCanonicalDecl(); };
  if (is(t)) return holder->getNameAsString() + member;
  const auto* smart = dyn_cast_or_null<ClassTemplateSpecializationDecl>(t->getAsCXXRecordDecl());
  const bool points = (t->isPointerType() && is(t->getPointeeType())) ||
                      (smart && smart->isInStdNamespace() && smart->getName().ends_with("_ptr") && smart->getTemplateArgs().size() > 0 &&
                       smart->getTemplateArgs()[0].getKind() == TemplateArgument::Type && is(smart->getTemplateArgs()[0].getAsType()));
  return points ? holder->getNameAsString() + "->" + member.substr(1) : "";
}

}  // namespace

const CXXRecordDecl* Model::madeInPlace(const Expr* call) const {
  const FunctionDecl* f = isa<CallExpr>(call) ? calleeOf(call) : nullptr;
  if (!f || files.contains(f->getLocation()) || !f->getDeclName().isIdentifier()) return nullptr;
  if (f->getName().starts_with("make_")) return context.dialect.recordOf(call->getType());
  const auto* member = dyn_cast<CXXMemberCallExpr>(call);
  if (!member || (f->getName() != "emplace" && f->getName() != "emplace_back")) return nullptr;
  const auto* list = dyn_cast_or_null<ClassTemplateSpecializationDecl>(member->getRecordDecl());
  if (!list || list->getTemplateArgs().size() == 0 || list->getTemplateArgs()[0].getKind() != TemplateArgument::Type) return nullptr;
  const CXXRecordDecl* made = context.dialect.recordOf(list->getTemplateArgs()[0].getAsType());
  // Handed over, it has been made elsewhere.
  const auto is = [&](const Expr* a) {
    const CXXRecordDecl* r = context.dialect.recordOf(a->getType());
    return r && made && (r->getCanonicalDecl() == made->getCanonicalDecl() || (r->hasDefinition() && made->hasDefinition() && r->isDerivedFrom(made)));
  };
  return llvm::any_of(argumentsOf(call), is) ? nullptr : made;
}

// The argument of a function of the author's: named by its parameter, or by the member that becomes of it.
bool Model::placeArgument(const Stmt* call, const Stmt* argument, OptimizerSite site) {
  const auto* e = dyn_cast<Expr>(call);
  if (!e || !calleeOf(e)) return false;
  const auto arguments = argumentsOf(e);
  bool placed = false;
  for (const FunctionDecl* f : code.targets(e)) {
    const Function* known = code.find(f);
    const auto* body = known ? dyn_cast_or_null<CompoundStmt>(known->body) : nullptr;
    for (unsigned i = 0; body && i < arguments.size() && i < f->getNumParams(); ++i) {
      if (arguments[i] != argument) continue;
      const FieldDecl* member = memberMadeFrom(f, f->getParamDecl(i));
      site.name = member ? member->getNameAsString() : f->getParamDecl(i)->getNameAsString();
      site.body = body;
      site.atStart = !member;
      site.model = "";
      if (!site.name.empty()) addOptimizer(site), placed = true;
    }
  }
  return placed;
}

// Follows the value of `e`, which is the optimizer or holds it, to a name. `from`: the functions whose returns led here.
bool Model::placeOptimizer(const Expr* e, OptimizerSite site, llvm::DenseSet<const FunctionDecl*>& from) {
  const Stmt* below = e;
  std::string member;  // of the object that is made with it
  const CXXRecordDecl* around = nullptr;
  for (const Stmt* p = e; p; below = p, p = code.parent(p)) {
    if (const auto* list = dyn_cast<InitListExpr>(p)) enter(list, below, around, member);
    if (const auto* ds = dyn_cast<DeclStmt>(p)) {
      for (const Decl* d : ds->decls())
        if (const auto* v = dyn_cast<VarDecl>(d); !v || (!ds->isSingleDecl() && (!v->getInit() || !isWithin(code, e, v->getInit())))) continue;  // SGD first(..), second(..);
        else if (context.dialect.is(v->getType(), Role::Optimizer)) site.name = v->getNameAsString();
        else if (!member.empty()) site.name = heldBy(v, around, member);
      site.statement = ds;
      break;
    }
    const Expr* lhs = nullptr;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Equal && below != o->getArg(0)) lhs = o->getArg(0);
    if (const auto* b = dyn_cast<BinaryOperator>(p); b && b->getOpcode() == BO_Assign) lhs = b->getLHS();
    const std::string name = lhs ? text(lhs) : keptIn(*this, p);
    if (!name.empty()) {
      site.name = name;
      site.statement = p;
      break;
    }
    if (p != e && placeArgument(p, below, site)) return true;
    if (!isa<ReturnStmt>(p)) continue;
    const FunctionDecl* f = code.functionOf(p);
    if (!f || !from.insert(f->getCanonicalDecl()).second) return false;
    bool placed = false;
    for (const CallSite& c : code.callers(f)) {
      llvm::DenseSet<const FunctionDecl*> further = from;
      placed = (c.caller && placeOptimizer(c.call, site, further)) || placed;
    }
    return placed;
  }
  if (site.name.empty() || !site.statement) return placeInitialised(e, site);
  // Where it stands, the model may have another name, or none.
  site.model = site.parameters ? nameAt(site.parameters, code.functionOf(e), code.functionOf(site.parameters)) : "";
  addOptimizer(site);
  return true;
}

// `Trainer(Net n) : optimizer(make_optimizer(n->parameters())) {}`: the member is good when the constructor has run.
bool Model::placeInitialised(const Expr* e, OptimizerSite site) {
  const auto* ctor = dyn_cast_or_null<CXXConstructorDecl>(code.functionOf(e));
  const Function* known = ctor ? code.find(ctor) : nullptr;
  if (!known) return false;
  for (const CXXCtorInitializer* init : ctor->inits()) {
    const FieldDecl* field = init->isWritten() ? init->getAnyMember() : nullptr;
    bool within = false;
    if (field && context.dialect.is(field->getType(), Role::Optimizer)) forEachExpr(init->getInit(), [&](const Expr* x) { within = within || x == e; });
    if (!within) continue;
    site.name = field->getNameAsString();
    site.body = dyn_cast_or_null<CompoundStmt>(known->body);
    site.model = site.parameters ? nameAt(site.parameters, ctor, code.functionOf(site.parameters)) : "";
    return addOptimizer(site), true;
  }
  return false;
}

void Model::addOptimizer(const OptimizerSite& site) {
  for (const OptimizerSite& known : optimizers) {
    const bool same = known.construct->getBeginLoc() == site.construct->getBeginLoc() && known.name == site.name;
    // The instantiations of a template share their text.
    const auto at = [](const OptimizerSite& s) { return s.statement ? s.statement->getBeginLoc() : s.body ? s.body->getBeginLoc() : SourceLocation(); };
    if (same && at(known) == at(site)) return (void)instances.push_back(site);
  }
  optimizers.push_back(site);
}

void Model::considerOptimizer(const Expr* e, const CXXConstructorDecl* ctor, const FieldDecl* field) {
  const auto* k = dyn_cast<CXXConstructExpr>(e);
  const bool direct = k && !k->getConstructor()->isCopyOrMoveConstructor() && !isStdRecord(k->getType());
  const CXXRecordDecl* made = direct ? context.dialect.recordOf(e->getType()) : madeInPlace(e);
  const Entry* entry = context.dialect.lookup(made);
  if (!entry || entry->role != Role::Optimizer) return;
  OptimizerSite site;
  site.construct = e;
  site.rule = entry->rule;
  const auto arguments = argumentsOf(e);
  if (entry->arg >= 0 && entry->arg < static_cast<int>(arguments.size()))
    for (const Expr* o : definitions.origins(arguments[entry->arg]))
      if (context.dialect.is(o, Role::Parameters) && objectOf(o)) site.parameters = objectOf(o);
  llvm::DenseSet<const FunctionDecl*> from;
  if (!field && placeOptimizer(e, site, from)) return;
  if (field) {
    site.name = field->getNameAsString();
    std::string member;
    const CXXRecordDecl* around = nullptr;
    for (const Stmt *p = e, *below = e; isa_and_nonnull<Expr>(p); below = p, p = code.parent(p))
      if (const auto* list = dyn_cast<InitListExpr>(p)) enter(list, below, around, member);
    if (const std::string inner = member.empty() ? "" : heldBy(field, around, member); !inner.empty()) site.name = inner;
    site.body = ctor ? dyn_cast_or_null<CompoundStmt>(code.find(ctor)->body) : nullptr;
  }
  // A list of parameters that a constructor is given: the model they are of has its name where the object is made, and perhaps none here.
  const FunctionDecl* listed = site.parameters ? code.functionOf(site.parameters) : nullptr;
  const bool elsewhere = field && listed && !(ctor && listed->getCanonicalDecl() == ctor->getCanonicalDecl());
  if (elsewhere) site.model = ctor ? nameAt(site.parameters, ctor, listed) : "";
  else if (site.parameters) site.model = field ? (mayNameAgain(site.parameters) ? text(site.parameters) : "") : nameAt(site.parameters, code.functionOf(e), listed);
  addOptimizer(site);
}

void Model::findOptimizers() {
  for (const Function& f : code.functions()) {
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(f.decl))
      for (const CXXCtorInitializer* init : ctor->inits())
        // What a class of the program's own derived from an optimizer begins with is no optimizer besides it.
        if (init->isWritten() && !(init->isBaseInitializer() && context.dialect.is(ctor->getParent(), Role::Optimizer)))
          forEachExpr(init->getInit(), [&](const Expr* e) { if (calleeOf(e)) considerOptimizer(e, ctor, init->getAnyMember()); });
    forEachExpr(f.body, [&](const Expr* e) { if (calleeOf(e)) considerOptimizer(e, nullptr, nullptr); });
  }
  // Made where the member is declared: the state is known when the only constructor has run.
  for (const FieldDecl* f : code.fields()) {
    if (!f->getInClassInitializer()) continue;
    const auto* parent = dyn_cast<CXXRecordDecl>(f->getParent());
    const CXXConstructorDecl* only = nullptr;
    unsigned number = 0;
    for (const CXXConstructorDecl* c : parent->ctors())
      if (!c->isImplicit() && !c->isDefaulted() && code.find(c)) only = c, ++number;
    const size_t before = optimizers.size();
    forEachExpr(f->getInClassInitializer(), [&](const Expr* e) { if (calleeOf(e)) considerOptimizer(e, number == 1 ? only : nullptr, f); });
    if (number == 0 && optimizers.size() > before) placeBehindVariables(f);
  }
  for (const ValueDecl* g : code.globals())
    if (const auto* v = dyn_cast<VarDecl>(g); v && v->getInit())
      forEachExpr(v->getInit(), [&](const Expr* e) {
        if (!calleeOf(e)) return;
        const size_t before = optimizers.size();
        considerOptimizer(e, nullptr, nullptr);
        if (optimizers.size() == before) return;
        // In the file of main the state is known when it begins.
        OptimizerSite& site = optimizers.back();
        site.name = v->getQualifiedNameAsString();
        const Function* first = main ? code.find(main) : nullptr;
        const auto* tried = first ? dyn_cast<CXXTryStmt>(first->body) : nullptr;
        site.body = dyn_cast_or_null<CompoundStmt>(tried ? tried->getTryBlock() : first ? first->body : nullptr);
        site.atStart = true;
        const auto* model = site.parameters ? dyn_cast_or_null<VarDecl>(declOf(site.parameters)) : nullptr;
        site.model = model && model->hasGlobalStorage() ? model->getQualifiedNameAsString() : "";
      });
}

bool Model::stepsItself(const CXXRecordDecl* r) const {
  if (!r || !r->hasDefinition() || !files.contains(r->getLocation())) return false;
  const bool own = llvm::any_of(r->methods(), [](const CXXMethodDecl* f) {
    return f->getDeclName().isIdentifier() && f->getName() == "step" && f->size_overridden_methods() > 0;
  });
  return own || llvm::any_of(r->bases(), [&](const CXXBaseSpecifier& b) { return stepsItself(b.getType()->getAsCXXRecordDecl()); });
}

namespace {

bool mentions(QualType t, const CXXRecordDecl* record) {
  t = t.getNonReferenceType();
  while (t->isPointerType()) t = t->getPointeeType();
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  if (!r) return false;
  if (r->getCanonicalDecl() == record->getCanonicalDecl()) return true;
  const auto* s = dyn_cast<ClassTemplateSpecializationDecl>(r);
  return s && llvm::any_of(s->getTemplateArgs().asArray(), [&](const TemplateArgument& a) { return a.getKind() == TemplateArgument::Type && mentions(a.getAsType(), record); });
}

bool isObjectOf(QualType t, const CXXRecordDecl* record) {
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return r && r->getCanonicalDecl() == record->getCanonicalDecl();
}

}  // namespace

// The class of the member has no constructor that is written out. Where all its objects are variables of functions, the state is known behind each.
void Model::placeBehindVariables(const FieldDecl* member) {
  const auto* record = cast<CXXRecordDecl>(member->getParent());
  const OptimizerSite site = optimizers.back();
  const auto* given = site.parameters ? dyn_cast<MemberExpr>(strip(site.parameters)) : nullptr;
  const bool beside = given && isa<CXXThisExpr>(given->getBase()->IgnoreImplicit());
  bool all = member->getAccess() == AS_public && (!beside || given->getMemberDecl()->getAccess() == AS_public);
  for (const FieldDecl* f : code.fields()) all = all && !mentions(f->getType(), record);
  for (const ValueDecl* g : code.globals()) all = all && !mentions(g->getType(), record);
  std::vector<std::pair<const VarDecl*, const DeclStmt*>> variables;
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const auto* k = dyn_cast<CXXConstructExpr>(e);
      const bool made = (k && !k->getConstructor()->isCopyOrMoveConstructor()) || isa<InitListExpr, CXXScalarValueInitExpr>(e);
      if (!made && !(isa<CallExpr>(e) && isSystemDecl(calleeOf(e)))) return;
      if (!made) all = all && (isObjectOf(e->getType(), record) || !mentions(e->getType(), record));  // make_unique<Trainer>()
      if (!made || !mentions(e->getType(), record)) return;
      const VarDecl* v = code.variableInitialisedBy(e);
      const Stmt* p = e;
      while (!v && (p = code.parent(p)) && isa<ExprWithCleanups, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ImplicitCastExpr>(p)) v = code.variableInitialisedBy(p);
      const DeclStmt* ds = v ? code.declStmt(v) : nullptr;
      all = all && ds && ds->isSingleDecl() && v->isLocalVarDecl() && isObjectOf(v->getType(), record);
      if (all) variables.emplace_back(v, ds);
    });
  if (!all || variables.empty()) return;
  optimizers.pop_back();
  for (const auto& [v, ds] : variables) {
    OptimizerSite at = site;
    at.name = v->getNameAsString() + "." + member->getNameAsString();
    at.statement = ds;
    at.model = beside ? v->getNameAsString() + "." + text(given) : "";
    addOptimizer(at);
  }
}

// How the object that `e`, an expression of the function `home`, names is called in the function `where`: a parameter by what it is given there.
std::string Model::nameAt(const Expr* e, const FunctionDecl* where, const FunctionDecl* made) const {
  const std::string spelled = mayNameAgain(e) ? text(e) : "";
  const bool elsewhere = made && where && made->getCanonicalDecl() != where->getCanonicalDecl();
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
  if (!v) return elsewhere ? "" : spelled;
  const auto* home = dyn_cast_or_null<FunctionDecl>(v->getDeclContext());
  if (!home || !where || home->getCanonicalDecl() == where->getCanonicalDecl()) return spelled.empty() ? v->getNameAsString() : spelled;
  for (const Definition& def : definitions.of(v)) {
    const Expr* given = def.value ? strip(def.value) : nullptr;
    if (given && code.functionOf(given) && code.functionOf(given)->getCanonicalDecl() == where->getCanonicalDecl() && declOf(given)) return text(given);
  }
  const auto* lambda = code.find(where);
  return lambda && lambda->lambda && !elsewhere ? spelled : "";
}

}  // namespace hvdize
