// SPDX-License-Identifier: Apache-2.0
// Prints, files and checkpoints: once, by the root. What their operands compute still happens on every rank.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/macros.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// std::cout at the left end of a chain of <<, or null.
const DeclRefExpr* chainStart(const Expr* e) {
  for (e = strip(e); e;) {
    if (const auto* r = dyn_cast<DeclRefExpr>(e)) return isConsoleStream(r->getDecl()) ? r : nullptr;
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (!o || o->getOperator() != OO_LessLess || o->getNumArgs() != 2) return nullptr;
    e = strip(o->getArg(0));
  }
  return nullptr;
}

const CallExpr* printCall(const Expr* e) {
  const auto* c = dyn_cast_or_null<CallExpr>(strip(e));
  if (!c || isa<CXXOperatorCallExpr, CXXMemberCallExpr>(c)) return nullptr;
  const HostRole role = hostRole(c->getDirectCallee());
  if (role == HostRole::Print || role == HostRole::Shell) return c;
  if (role != HostRole::PrintTo) return nullptr;
  for (const Expr* a : c->arguments())
    if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a)); r && isConsoleStream(r->getDecl())) return c;
  return nullptr;
}

bool isWholeStatement(const Model& m, const Expr* e) {
  const Stmt* p = m.code.parent(e);
  while (p && (isa<ExprWithCleanups>(p) || isa<CXXBindTemporaryExpr>(p))) p = m.code.parent(p);
  return p && !isa<Expr>(p) && !isa<DeclStmt, ReturnStmt>(p);
}

// Messages for the author, not results.
bool toErrors(const DeclRefExpr* stream) { return stream->getDecl()->getName() != "cout" && stream->getDecl()->getName() != "stdout"; }

bool toErrors(const CallExpr* call) {
  for (const Expr* a : call->arguments())
    if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a)); r && isConsoleStream(r->getDecl())) return toErrors(r);
  return false;
}

// The output stands in a macro's body: the use of the macro is guarded. False: that cannot be done, and the edit gate says why.
bool guardMacro(Model& m, const Expr* output, bool errors) {
  const MacroOutput macro = macroOutput(m, output);
  if (!macro.statement) return false;
  if (!macro.leaves && m.effectFreeIn(macro.statement))
    return m.context.edits.guard(macro.statement, "if (hvd::is_root()) ", {DiagID::RootOutput, "printed once"}), true;
  if (!errors) return false;
  m.context.diags.report(DiagID::OutputOnEveryRank, macro.statement->getSourceRange());
  return true;
}

void consoleOutput(Model& m) {
  const Why why{DiagID::RootOutput, "printed once"};
  for (const Function& f : m.code.functions()) {
    llvm::DenseSet<const Expr*> done;
    forEachExpr(f.body, [&](const Expr* e) {
      const Expr* inner = strip(e);
      const CallExpr* call = printCall(inner);
      const DeclRefExpr* stream = isa<CXXOperatorCallExpr>(inner) ? chainStart(inner) : nullptr;
      if ((!call && !stream) || e != inner) return;
      if (stream && !done.insert(stream).second) return;
      m.context.diags.report(DiagID::RootOutput, inner->getSourceRange());
      if (const SourceRange named = stream ? stream->getSourceRange() : call->getCallee()->getSourceRange();
          !m.context.edits.canEdit(named) && guardMacro(m, inner, call ? toErrors(call) : toErrors(stream)))
        return;
      if (isWholeStatement(m, inner) && m.effectFree(inner)) {
        m.context.edits.guard(inner, "if (hvd::is_root()) ", why);
      } else if (stream) {
        m.context.edits.wrap(stream, "hvd::root_stream(", ")", why);
      } else {
        m.context.edits.wrap(call->getCallee()->IgnoreParenImpCasts(), "hvd::root_only(", ")", why);
      }
      if (call)
        for (const Expr* a : call->arguments())
          if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a))) done.insert(r);
    });
    // The console stream as an argument, a reference, an operand of ?: ...
    forEachExpr(f.body, [&](const Expr* e) {
      const auto* r = dyn_cast<DeclRefExpr>(e);
      if (!r || !isConsoleStream(r->getDecl()) || done.count(r) || r->getType()->isPointerType()) return;
      const Stmt* p = m.code.parent(r);
      if (isa_and_nonnull<MemberExpr>(p)) return;  // std::cout.precision(4), std::cout.flush()
      if (p && isa<ImplicitCastExpr>(p) && isa_and_nonnull<MemberExpr>(m.code.parent(p))) return;
      m.context.diags.report(DiagID::RootOutput, r->getSourceRange());
      m.context.edits.wrap(r, "hvd::root_stream(", ")", why);
    });
  }
}

void rootPath(Model& m, const Expr* path) {
  m.context.diags.report(DiagID::RootPath, path->getSourceRange(), m.text(path));
  m.context.edits.wrap(path, "hvd::root_path(", ")", {DiagID::RootPath, "written once"});
}

void files(Model& m) {
  const auto visit = [&](const Expr* e) {
    const FunctionDecl* f = calleeOf(e);
    if (!f) return;
    const auto arguments = argumentsOf(e);
    const HostRole role = hostRole(f);
    if (isa<CXXConstructExpr>(e) && isOutputFile(e->getType()) && !arguments.empty() && !cast<CXXConstructorDecl>(f)->isCopyOrMoveConstructor())
      return rootPath(m, arguments[0]);
    if (const Expr* object = objectOf(e); object && isOutputFile(object->getType()) && f->getDeclName().isIdentifier() &&
                                          f->getName() == "open" && !arguments.empty())
      return rootPath(m, arguments[0]);
    if (role == HostRole::OpenFile && arguments.size() >= 2) {
      const auto* mode = dyn_cast<StringLiteral>(strip(arguments[1]));
      if (!mode || mode->getString().find_first_of("wa+") != llvm::StringRef::npos) return rootPath(m, arguments[0]);
    }
    if (role == HostRole::ReadInput) m.context.diags.report(DiagID::ReadsInput, e->getSourceRange(), m.text(e));
    if (role == HostRole::FileChange) {
      m.context.diags.report(DiagID::RootFile, e->getSourceRange());
      const Why why{DiagID::RootFile, "done once"};
      if (isWholeStatement(m, e)) m.context.edits.guard(e, "if (hvd::is_root()) ", why);
      else m.context.edits.wrap(e, "hvd::from_root([&] { return ", "; })", why);
    }
  };
  for (const Function& f : m.code.functions()) {
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(f.decl))
      for (const CXXCtorInitializer* init : ctor->inits())
        if (init->isWritten()) forEachExpr(init->getInit(), visit);
    forEachExpr(f.body, visit);
  }
}

void checkpoints(Model& m) {
  for (const Site& s : m.sites.of(Role::Save)) {
    m.context.diags.report(DiagID::RootFile, s.call->getSourceRange());
    if (!isWholeStatement(m, s.call)) {
      m.context.diags.report(DiagID::OutputNeeded, s.call->getSourceRange(), m.text(s.call), "its result is used");
      continue;
    }
    const Why why{DiagID::RootFile, "written once"};
    if (m.effectFree(s.call)) {
      m.context.edits.guard(s.call, "if (hvd::is_root()) ", why);
    } else {
      m.context.diags.report(DiagID::OutputNeeded, s.call->getSourceRange(), m.text(s.call), "its arguments have effects; compute them before the call");
    }
  }
}

}  // namespace

bool isConsoleOutput(const Model&, const Expr* e) {
  const Expr* inner = strip(e);
  return printCall(inner) || (isa<CXXOperatorCallExpr>(inner) && chainStart(inner));
}

void keepOutputToRoot(Model& m) {
  consoleOutput(m);
  files(m);
  checkpoints(m);
}

}  // namespace hvdize
