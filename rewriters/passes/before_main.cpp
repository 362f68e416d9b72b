// SPDX-License-Identifier: Apache-2.0
// Objects of namespace scope are made before main, and its session, begin: where what was changed in their making asks for the ranks, a session
// that is opened earlier precedes the first of them in its file.
#include "clang/AST/ExprCXX.h"

#include "rewriters/passes/steps.h"
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
  }

  /// Does making the variable run code that was changed?
  bool isChanged(const Root& global) {
    seen_.clear();
    return changes(global.code);
  }

 private:
  bool changes(const Stmt* s) {
    if (!s) return false;
    if (covers(s->getSourceRange())) return true;
    bool found = false;
    forEachExpr(s, [&](const Expr* e) { found = found || enters(e); });
    return found;
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
  bool covers(SourceRange r) const {
    const SourceManager& sm = m_.context.ast.getSourceManager();
    const auto [file, begin] = sm.getDecomposedLoc(sm.getFileLoc(r.getBegin()));
    const auto [last, end] = sm.getDecomposedLoc(sm.getFileLoc(r.getEnd()));
    return file == last && llvm::any_of(edits_, [&, file = file, begin = begin, end = end](const Edit* e) {
             return m_.context.edits.files()[e->range.file].id == file && begin <= e->range.begin && e->range.begin <= end;
           });
  }

  const Model& m_;
  std::vector<const Edit*> edits_;
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
    const std::string made = "const hvd::EarlySession " + name + (policy.empty() ? "" : "(" + policy + ")") + ";";
    m.context.edits.insertBeforeToken(at, made + m.context.edits.endOfLine(at).str(), {DiagID::SessionEarly, "the ranks are known before main begins"});
  }
}

}  // namespace hvdize
