// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/author.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/program/callables.h"
#include "rewriters/program/origins.h"

using namespace clang;

namespace hvdize {

AuthorFiles::AuthorFiles(const SourceManager& sm, std::string frameworkPrefix)
    : sm_(sm), prefix_(std::move(frameworkPrefix)) {}

bool AuthorFiles::inMainFile(SourceLocation loc) const {
  return loc.isValid() && sm_.getFileID(sm_.getExpansionLoc(loc)) == sm_.getMainFileID();
}

bool AuthorFiles::contains(SourceLocation loc) const {
  if (loc.isInvalid()) return false;
  const SourceLocation at = sm_.getExpansionLoc(loc);
  const FileID file = sm_.getFileID(at);
  const auto found = known_.find(file);
  if (found != known_.end()) return found->second;
  bool author = file == sm_.getMainFileID();
  if (!author && !sm_.isInSystemHeader(at)) {
    const OptionalFileEntryRef entry = sm_.getFileEntryRefForID(file);
    if (entry) {
      const StringRef real = entry->getFileEntry().tryGetRealPathName();
      author = !real.empty() && (prefix_.empty() || !real.starts_with(prefix_));
    }
  }
  known_[file] = author;
  return author;
}

AuthorCode::AuthorCode(ASTContext& context, const AuthorFiles& files) : context_(context), files_(files) {
  addScope();
  findUncalled();
  if (!uncalled_.empty()) {  // anew, without those
    functions_.clear(), globals_.clear(), fields_.clear(), roots_.clear(), uninstantiated_.clear(), records_.clear();
    index_.clear(), parents_.clear(), owner_.clear(), declStmts_.clear(), initOf_.clear(), calls_.clear();
    addScope();
  }
  callables_ = std::make_unique<Callables>(*this);
  linkCalls();
}

AuthorCode::~AuthorCode() = default;

// The driver has put the author's declarations there; without it that is the whole unit.
void AuthorCode::addScope() {
  for (const Decl* d : context_.getTraversalScope()) {
    if (const auto* unit = dyn_cast<TranslationUnitDecl>(d)) addAll(unit);
    else if (files_.contains(d->getLocation())) addDecl(d);
  }
}

void AuthorCode::addAll(const TranslationUnitDecl* unit) {
  for (const Decl* d : unit->decls())
    if (files_.contains(d->getLocation())) addDecl(d);
}

void AuthorCode::addDecl(const Decl* d) {
  if (d->isImplicit()) return;
  if (const auto* t = dyn_cast<FunctionTemplateDecl>(d)) return addFunctionTemplate(t);
  if (const auto* t = dyn_cast<ClassTemplateDecl>(d)) {
    for (const ClassTemplateSpecializationDecl* s : t->specializations()) addRecord(s);
    if (t->specializations().empty() && t->isThisDeclarationADefinition()) addUninstantiatedMembers(t->getTemplatedDecl());
    return;
  }
  if (const auto* f = dyn_cast<FunctionDecl>(d)) return addFunction(f);
  if (const auto* r = dyn_cast<CXXRecordDecl>(d)) return addRecord(r);
  if (const auto* v = dyn_cast<VarDecl>(d)) {
    globals_.push_back(v);
    if (v->getInit()) addRoot(v->getInit(), nullptr, v), initOf_[v->getInit()] = v;
    return;
  }
  if (const auto* c = dyn_cast<DeclContext>(d))
    if (isa<NamespaceDecl, LinkageSpecDecl>(d))
      for (const Decl* inner : c->decls()) addDecl(inner);
}

void AuthorCode::addRecord(const CXXRecordDecl* r) {
  r = r->getDefinition();
  if (!r || r->isDependentContext() || r->isLambda()) return;
  for (const CXXRecordDecl* known : records_)
    if (known == r) return;
  records_.push_back(r);
  for (const Decl* d : r->decls()) {
    if (const auto* f = dyn_cast<FieldDecl>(d)) {
      fields_.push_back(f);
      if (const Expr* init = f->getInClassInitializer()) addRoot(init, nullptr, f);
    } else {
      addDecl(d);
    }
  }
  addUninstantiatedMembers(r);
}

void AuthorCode::addUninstantiated(const FunctionDecl* pattern) {
  if (!llvm::is_contained(uninstantiated_, pattern)) uninstantiated_.push_back(pattern);
}

void AuthorCode::addUninstantiatedMembers(const CXXRecordDecl* r) {
  for (const CXXMethodDecl* m : r->methods()) {
    const FunctionDecl* pattern = m->isDependentContext() ? m : m->getTemplateInstantiationPattern();
    if (!pattern || (pattern != m && m->hasBody()) || m->isDeleted() || m->isDefaulted() || !pattern->getBody(pattern)) continue;
    addUninstantiated(pattern);
  }
}

void AuthorCode::addFunctionTemplate(const FunctionTemplateDecl* t) {
  bool any = false;
  for (const FunctionDecl* s : t->specializations()) {
    if (s->isDependentContext()) continue;
    any = any || s->hasBody();
    addFunction(s);
  }
  // A member template of a specialisation has its body in the class template.
  while (t->getInstantiatedFromMemberTemplate()) t = t->getInstantiatedFromMemberTemplate();
  const FunctionDecl* pattern = t->getTemplatedDecl();
  if (!any && pattern->getBody(pattern)) addUninstantiated(pattern);
}

void AuthorCode::addFunction(const FunctionDecl* f, const LambdaExpr* lambda) {
  if (f->isDependentContext()) return;
  const FunctionDecl* def = nullptr;
  const Stmt* body = f->getBody(def);
  if (!body || f->isDefaulted()) return;
  const FunctionDecl* key = f->getCanonicalDecl();
  if (index_.count(key) || uncalled_.contains(key)) return;
  index_[key] = functions_.size();
  functions_.push_back({def, body, lambda});
  if (const auto* ctor = dyn_cast<CXXConstructorDecl>(def))
    for (const CXXCtorInitializer* init : ctor->inits())
      if (init->isWritten()) addRoot(init->getInit(), def, init->getAnyMember());
  for (const ParmVarDecl* p : def->parameters())
    if (p->hasDefaultArg() && !p->hasUninstantiatedDefaultArg() && !p->hasUnparsedDefaultArg()) addRoot(p->getDefaultArg(), def, p);
  addRoot(body, def, nullptr);
}

void AuthorCode::addRoot(const Stmt* s, const FunctionDecl* f, const ValueDecl* initialises) {
  roots_.push_back({s, f, initialises});
  addBody(s, nullptr, f);
}

void AuthorCode::addLambda(const LambdaExpr* l) {
  const CXXMethodDecl* op = l->getCallOperator();
  if (const FunctionTemplateDecl* t = l->getDependentCallOperator()) {
    for (const FunctionDecl* s : t->specializations()) addFunction(s, l);
    if (t->specializations().empty()) addUninstantiated(t->getTemplatedDecl());
    return;
  }
  if (op) addFunction(op, l);
}

void AuthorCode::addBody(const Stmt* s, const Stmt* parent, const FunctionDecl* f) {
  if (!s) return;
  if (parent) parents_[s] = parent;
  owner_[s] = f;
  if (const auto* l = dyn_cast<LambdaExpr>(s)) {
    for (const Expr* init : l->capture_inits()) addBody(init, s, f);
    addLambda(l);
    return;
  }
  if (const auto* ds = dyn_cast<DeclStmt>(s)) {
    for (const Decl* d : ds->decls()) {
      if (const auto* v = dyn_cast<VarDecl>(d)) {
        declStmts_[v] = ds;
        if (const auto* dd = dyn_cast<DecompositionDecl>(v))
          for (const BindingDecl* b : dd->bindings())
            if (const VarDecl* held = b->getHoldingVar()) {
              declStmts_[held] = ds;
              addBody(held->getInit(), s, f);  // get<0>(pair): no child of the statement, but evaluated there
            }
        if (v->getInit()) initOf_[v->getInit()] = v;
      } else if (const auto* r = dyn_cast<CXXRecordDecl>(d)) {
        addRecord(r);
      }
    }
  }
  if (const auto* call = dyn_cast<Expr>(s))
    if (calleeOf(call) || Callables::isIndirect(call)) calls_.push_back({call, f});
  if (const auto* d = dyn_cast<CXXDefaultArgExpr>(s)) return (void)d;
  for (const Stmt* c : s->children()) addBody(c, s, f);
}

void AuthorCode::linkCalls() {
  for (const CallSite& c : calls_)
    for (const FunctionDecl* t : targets(c.call)) callers_[t->getCanonicalDecl()].push_back(c);
}

const Function* AuthorCode::find(const FunctionDecl* decl) const {
  if (!decl) return nullptr;
  const auto it = index_.find(decl->getCanonicalDecl());
  return it == index_.end() ? nullptr : &functions_[it->second];
}

llvm::ArrayRef<CallSite> AuthorCode::callers(const FunctionDecl* decl) const {
  const auto it = callers_.find(decl->getCanonicalDecl());
  if (it == callers_.end()) return {};
  return it->second;
}

llvm::SmallVector<const FunctionDecl*, 8> AuthorCode::candidates(QualType result) const { return callables_->candidates(result); }

const FunctionDecl* AuthorCode::functionOf(const Stmt* s) const { return owner_.lookup(s); }

llvm::SmallVector<const FunctionDecl*, 2> AuthorCode::targets(const Expr* call) const {
  if (Callables::isIndirect(call)) return callables_->targets(call);
  llvm::SmallVector<const FunctionDecl*, 2> out;
  const FunctionDecl* callee = calleeOf(call);
  if (!callee) return out;
  if (find(callee)) out.push_back(find(callee)->decl);
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method && method->isVirtual())
    for (const Function& f : functions_) {
      const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
      if (!m || m->getCanonicalDecl() == method->getCanonicalDecl()) continue;
      for (const CXXMethodDecl* o : m->overridden_methods())
        if (o->getCanonicalDecl() == method->getCanonicalDecl()) out.push_back(f.decl);
    }
  return out;
}

bool isWithin(const AuthorCode& code, const Stmt* s, const Stmt* around) {
  for (; s; s = code.parent(s))
    if (s == around) return true;
  return false;
}

bool isWholeStatement(const AuthorCode& code, const Expr* e) {
  const Stmt* p = code.parent(e);
  while (isa_and_nonnull<ExprWithCleanups, CXXBindTemporaryExpr>(p)) p = code.parent(p);
  return p && !isa<Expr>(p) && !isa<DeclStmt, ReturnStmt>(p);
}

const Expr* strip(const Expr* e) {
  while (e) {
    const Expr* next = e->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<FullExpr>(next)) next = full->getSubExpr();
    else if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(next)) next = m->getSubExpr();
    else if (const auto* b = dyn_cast<CXXBindTemporaryExpr>(next)) next = b->getSubExpr();
    else if (const auto* c = dyn_cast<ExplicitCastExpr>(next)) next = c->getSubExpr();
    else if (const auto* d = dyn_cast<CXXDefaultInitExpr>(next)) next = d->getExpr();
    else if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(next)) next = s->getReplacement();
    else if (const auto* k = dyn_cast<CXXConstructExpr>(next)) {
      const bool copies = k->getNumArgs() == 1 && k->getConstructor()->isCopyOrMoveConstructor();
      const bool implicit = k->getNumArgs() == 1 && !isa<CXXTemporaryObjectExpr>(k) && k->getConstructor()->isConvertingConstructor(false) &&
                            k->getParenOrBraceRange().isInvalid();
      if (copies || implicit) next = k->getArg(0);
    } else if (const auto* mc = dyn_cast<CXXMemberCallExpr>(next)) {
      if (isa_and_nonnull<CXXConversionDecl>(mc->getMethodDecl())) next = mc->getImplicitObjectArgument();
    }
    if (next == e) return e;
    e = next;
  }
  return e;
}

llvm::StringRef calleeName(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  return f && f->getDeclName().isIdentifier() ? f->getName() : "";
}

const FunctionDecl* calleeOf(const Expr* e) {
  if (const auto* c = dyn_cast<CallExpr>(e)) return c->getDirectCallee();
  if (const auto* c = dyn_cast<CXXConstructExpr>(e)) {
    const CXXConstructorDecl* made = c->getConstructor();  // of the base that `using Base::Base` takes it from
    while (made->isInheritingConstructor() && made->getInheritedConstructor().getConstructor()) made = made->getInheritedConstructor().getConstructor();
    return made;
  }
  return nullptr;
}

const Expr* objectOf(const Expr* e) {
  const Expr* object = nullptr;
  if (const auto* m = dyn_cast<CXXMemberCallExpr>(e)) {
    object = m->getImplicitObjectArgument();
  } else if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) {
    if (isa_and_nonnull<CXXMethodDecl>(o->getDirectCallee()) && o->getNumArgs() > 0) object = o->getArg(0);
  }
  return object ? pointed(object) : nullptr;
}

const VarDecl* variableAround(const Expr* member) {
  const Expr* e = strip(member);
  for (const auto* m = dyn_cast<MemberExpr>(e); m; m = dyn_cast<MemberExpr>(e)) {
    if (m->isArrow() || !isa<FieldDecl>(m->getMemberDecl()) || m->getMemberDecl()->getType()->isReferenceType()) return nullptr;
    e = strip(m->getBase());
  }
  const auto* v = dyn_cast_or_null<VarDecl>(isa<DeclRefExpr>(e) ? declOf(e) : nullptr);
  return v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType() ? v : nullptr;
}

const Expr* pointed(const Expr* object) {
  object = strip(object);
  // `holder->m()` and `(*ptr).m()`: the holder or pointer is what the author names.
  while (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(object)) {
    if (o->getOperator() != OO_Arrow && o->getOperator() != OO_Star) break;
    if (o->getNumArgs() != 1) break;
    object = strip(o->getArg(0));
  }
  while (const auto* u = dyn_cast<UnaryOperator>(object)) {
    if (u->getOpcode() != UO_Deref && u->getOpcode() != UO_AddrOf) break;
    object = strip(u->getSubExpr());
  }
  return object;
}

bool isVisit(const Expr* e) {
  const auto* c = dyn_cast<CallExpr>(e);
  const FunctionDecl* f = c && c->getNumArgs() > 1 ? c->getDirectCallee() : nullptr;
  return f && f->isInStdNamespace() && f->getDeclName().isIdentifier() && f->getName() == "visit";
}

llvm::SmallVector<const Expr*, 4> argumentsOf(const Expr* e) {
  llvm::SmallVector<const Expr*, 4> out;
  const auto push = [&out](const Expr* a) {
    if (a && !isa<CXXDefaultArgExpr>(a)) out.push_back(a);
  };
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) {
    const bool method = isa_and_nonnull<CXXMethodDecl>(o->getDirectCallee());
    for (unsigned i = method ? 1 : 0; i < o->getNumArgs(); ++i) push(o->getArg(i));
  } else if (isVisit(e)) {
    for (const Expr* a : llvm::drop_begin(cast<CallExpr>(e)->arguments())) push(a);
  } else if (const auto* c = dyn_cast<CallExpr>(e)) {
    for (const Expr* a : c->arguments()) push(a);
  } else if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    for (const Expr* a : k->arguments()) push(a);
  }
  return out;
}

llvm::SmallVector<const Expr*, 4> tiedBy(const Expr* assignment) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(assignment);
  if (!o || o->getOperator() != OO_Equal) return {};
  llvm::SmallVector<const Expr*, 4> out, open{o->getArg(0)};
  while (!open.empty()) {
    const Expr* e = strip(open.pop_back_val());
    const FunctionDecl* f = calleeOf(e);
    const bool tie = f && f->isInStdNamespace() && f->getDeclName().isIdentifier() && (f->getName() == "tie" || f->getName() == "forward_as_tuple");
    if (tie) open.append(cast<CallExpr>(e)->arg_begin(), cast<CallExpr>(e)->arg_end());
    else if (e != strip(o->getArg(0))) out.push_back(e);
  }
  return out;
}

std::optional<llvm::SmallVector<const Expr*, 4>> extentsOf(const Expr* shape) {
  for (const Expr* e = strip(shape); e;) {
    if (const auto* list = dyn_cast<InitListExpr>(e)) {
      // `{{a, b}}`: a list that initialises an array reference.
      if (list->getNumInits() == 1 && isa<InitListExpr, CXXStdInitializerListExpr>(strip(list->getInit(0)))) {
        e = strip(list->getInit(0));
        continue;
      }
      return llvm::SmallVector<const Expr*, 4>(list->inits().begin(), list->inits().end());
    }
    if (const auto* s = dyn_cast<CXXStdInitializerListExpr>(e)) {
      e = strip(s->getSubExpr());
      continue;
    }
    if (e->getType()->isIntegralOrEnumerationType()) return llvm::SmallVector<const Expr*, 4>{e};
    const auto* k = dyn_cast<CXXConstructExpr>(e);
    if (!k || k->getNumArgs() == 0 || (k->getNumArgs() > 1 && !isa<CXXDefaultArgExpr>(k->getArg(1)))) return std::nullopt;
    e = strip(k->getArg(0));
  }
  return std::nullopt;
}

std::optional<std::pair<const Expr*, const Expr*>> intervalIn(const Expr* index) {
  const auto inner = [](const Expr* e) {
    e = strip(e);
    for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
    return e;
  };
  const auto list = extentsOf(index);
  const auto* made = dyn_cast<CXXConstructExpr>(inner(list && !list->empty() ? list->front() : index));
  if (!made || made->getNumArgs() < 2) return std::nullopt;
  const Expr *begin = inner(made->getArg(0)), *end = inner(made->getArg(1));
  if (!begin->getType()->isIntegerType() || !end->getType()->isIntegerType()) return std::nullopt;  // Slice(None, n)
  return std::pair(begin, end);
}

bool keepsFirstDimension(const Expr* index) {
  const Expr* first = strip(index);
  while (const auto* k = dyn_cast<CXXConstructExpr>(first)) {
    const auto inner = argumentsOf(k);
    if (inner.empty()) return true;
    if (inner.size() > 1) return false;
    first = strip(inner[0]);
  }
  return isa<StringLiteral>(first);
}

const ParmVarDecl* parameterOf(const Expr* call, unsigned argument) {
  const FunctionDecl* f = calleeOf(call);
  if (!f || argument >= f->getNumParams()) return nullptr;
  return f->getParamDecl(argument);
}

}  // namespace hvdize
