// SPDX-License-Identifier: Apache-2.0
// Objects of namespace scope are made before main, and its session, begin: where what was changed in their making asks for the ranks, a session
// that is opened earlier precedes the first of them in its file.
#include "clang/AST/ExprCXX.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/callables.h"
#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

// Calls of the runtime; types alone (`hvd::Sharded<..>`) ask nothing.
bool asksRuntime(llvm::StringRef text) {
  for (size_t at = text.find("hvd::"); at != llvm::StringRef::npos; at = text.find("hvd::", at + 1)) {
    const llvm::StringRef name = text.substr(at + 5).take_while([](char c) { return isAlphanumeric(c) || c == '_'; });
    if (text.substr(at + 5 + name.size()).starts_with("(")) return true;
  }
  return false;
}

class BeforeMain {
 public:
  explicit BeforeMain(const Model& m) : m_(m) {
    for (const Edit& e : m.context.edits.edits())
      if (asksRuntime(e.before) || asksRuntime(e.after)) edits_.push_back(&e);
    for (const Root& r : m.code.roots())
      if (r.isGlobal()) lookForCalls(r.code);
    seen_.clear();
  }

  /// Does making the variable run code that was changed?
  bool isChanged(const Root& global) {
    seen_.clear();
    return changes(global.code);
  }

 private:
  bool changes(const Stmt* s) {
    if (!s) return false;
    std::vector<const LambdaExpr*> stored;
    bool found = false;
    forEachExpr(s, [&](const Expr* e) {
      const auto* l = dyn_cast<LambdaExpr>(e);
      if (l && !mayRunAny_) stored.push_back(l);
      else found = found || enters(e);
    });
    return found || covers(s->getSourceRange(), stored);
  }
  // A lambda that is only stored (a table of makers) does not run yet. Where something before main calls what is not known, it may.
  void lookForCalls(const Stmt* s) {
    if (!s) return;
    forEachExpr(s, [&](const Expr* e) {
      if (mayRunAny_) return;
      const auto targets = m_.code.targets(e);
      if (targets.empty() && (Callables::isIndirect(e) || givesAway(e))) mayRunAny_ = true;
      for (const FunctionDecl* f : targets)
        if (const Function* known = m_.code.find(f); known && seen_.insert(known->decl).second) {
          lookForCalls(known->body);
          if (const auto* c = dyn_cast<CXXConstructorDecl>(known->decl))
            for (const CXXCtorInitializer* init : c->inits()) lookForCalls(init->getInit());
        }
    });
  }
  // Does the call hand something callable to code that is not seen, other than a container that keeps it?
  static bool givesAway(const Expr* e) {
    const FunctionDecl* f = calleeOf(e);
    if (!f || llvm::none_of(argumentsOf(e), [](const Expr* a) { return isCallable(a->getType()) || isCallable(strip(a)->getType()); })) return false;
    if (isa<CXXConstructExpr>(e)) {
      const CXXRecordDecl* made = e->getType()->getAsCXXRecordDecl();
      return !isStdFunction(e->getType()) && !(made && (made->isLambda() || (made->isInStdNamespace() && (made->getName() == "pair" || made->getName() == "tuple"))));
    }
    if (!isSystemDecl(f)) return true;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->getOperator() != OO_Equal;
    const bool member = isa<CXXMemberCallExpr>(e) && objectOf(e) && isStdRecord(objectOf(e)->getType());
    const llvm::StringRef name = calleeName(e);
    if (member) return !llvm::is_contained({"emplace", "try_emplace", "insert", "insert_or_assign", "push_back", "emplace_back", "swap"}, name);
    return !llvm::is_contained({"move", "forward", "make_pair", "make_tuple"}, name);
  }
  static bool isCallable(QualType t) {
    t = t.getNonReferenceType();
    const CXXRecordDecl* r = t->getAsCXXRecordDecl();
    return isStdFunction(t) || t->isFunctionPointerType() || t->isFunctionType() || t->isMemberFunctionPointerType() || (r && r->isLambda());
  }
  bool enters(const Expr* e) {
    if (const auto* l = dyn_cast<LambdaExpr>(e)) return runs(l->getCallOperator());
    if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && membersChange(k->getConstructor())) return true;
    for (const FunctionDecl* f : m_.code.targets(e))
      if (runs(f)) return true;
    return false;
  }
  bool runs(const FunctionDecl* f) {
    const Function* known = m_.code.find(f);
    return known && seen_.insert(known->decl).second && changes(known->body);
  }
  // What a constructor initialises, where it says so and where its class does.
  bool membersChange(const CXXConstructorDecl* ctor) {
    if (const auto* known = m_.code.find(ctor))
      if (const auto* c = dyn_cast<CXXConstructorDecl>(known->decl))
        for (const CXXCtorInitializer* init : c->inits())
          if (init->isWritten() && seen_.insert(init).second && changes(init->getInit())) return true;
    for (const FieldDecl* f : ctor->getParent()->fields())
      if (f->getInClassInitializer() && m_.files.contains(f->getLocation()) && seen_.insert(f).second && changes(f->getInClassInitializer())) return true;
    return false;
  }
  // An edit in `r`, but in none of these lambdas' bodies.
  bool covers(SourceRange r, llvm::ArrayRef<const LambdaExpr*> without) const {
    const SourceManager& sm = m_.context.ast.getSourceManager();
    const auto isIn = [&](const LambdaExpr* l, FileID file, unsigned at) {
      const SourceRange body = l->getBody()->getSourceRange();
      const auto [of, begin] = sm.getDecomposedLoc(sm.getFileLoc(body.getBegin()));
      return of == file && begin < at && at <= sm.getFileOffset(sm.getFileLoc(body.getEnd()));
    };
    const auto [file, begin] = sm.getDecomposedLoc(sm.getFileLoc(r.getBegin()));
    const auto [last, end] = sm.getDecomposedLoc(sm.getFileLoc(r.getEnd()));
    return file == last && llvm::any_of(edits_, [&, file = file, begin = begin, end = end](const Edit* e) {
             return m_.context.edits.files()[e->range.file].id == file && begin <= e->range.begin && e->range.begin <= end &&
                    llvm::none_of(without, [&](const LambdaExpr* l) { return isIn(l, file, e->range.begin); });
           });
  }

  const Model& m_;
  std::vector<const Edit*> edits_;
  bool mayRunAny_ = false;
  llvm::DenseSet<const void*> seen_;
};

// Of the outermost class, where the variable is a member of one.
SourceLocation startOf(const VarDecl* v) {
  const Decl* d = v;
  for (const DeclContext* c = v->getLexicalDeclContext(); c->isRecord(); c = c->getLexicalParent()) d = cast<Decl>(c);
  return d->getBeginLoc();
}

}  // namespace

void startBeforeMain(Model& m) {
  BeforeMain early(m);
  const SourceManager& sm = m.context.ast.getSourceManager();
  const std::string policy = policyOf(m);
  std::vector<std::pair<SourceLocation, const VarDecl*>> first;  // of each file
  for (const Root& r : m.code.roots()) {
    const auto* v = dyn_cast_or_null<VarDecl>(r.initialises);
    if (!r.isGlobal() || !early.isChanged(r)) continue;
    const SourceLocation at = startOf(v);
    const auto known = llvm::find_if(first, [&](const auto& f) { return sm.getFileID(f.first) == sm.getFileID(at); });
    if (known == first.end()) first.emplace_back(at, v);
    else if (sm.isBeforeInTranslationUnit(at, known->first)) *known = {at, v};
  }
  for (const auto& [at, v] : first) {
    // A header's has a name of its own: it may meet that of the file that includes it.
    std::string name = "hvd_early_session";
    if (!sm.isInMainFile(at)) {
      name += "_";
      for (const char c : llvm::sys::path::stem(sm.getFilename(at))) name += isAlphanumeric(c) ? c : '_';
    }
    m.context.diags.report(DiagID::SessionEarly, v->getLocation(), v->getNameAsString());
    const std::string made = "const hvd::EarlySession " + m.freeName(name) + (policy.empty() ? "" : "(" + policy + ")") + ";";
    m.context.edits.insertBeforeToken(at, made + m.context.edits.endOfLine(at).str(), {DiagID::SessionEarly, "the ranks are known before main begins"});
  }
}

}  // namespace hvdize
