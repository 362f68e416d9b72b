// SPDX-License-Identifier: Apache-2.0
// Prints, files and checkpoints: once, by the root. What their operands compute still happens on every rank.
#include "llvm/ADT/StringSet.h"
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/errors.h"
#include "rewriters/passes/macros.h"
#include "rewriters/passes/results.h"
#include "rewriters/passes/steps.h"
#include "rewriters/program/files.h"
#include "rewriters/program/host.h"
#include "rewriters/program/opened_files.h"

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

// write(1, ...), dprintf(STDOUT_FILENO, ...)
bool toConsoleDescriptor(const CallExpr* c, const ASTContext& ast) {
  Expr::EvalResult fd;
  const Expr* first = c->getNumArgs() > 0 ? c->getArg(0) : nullptr;
  return first && first->getType()->isIntegerType() && !first->isValueDependent() && first->EvaluateAsInt(fd, ast) &&
         (fd.Val.getInt() == 1 || fd.Val.getInt() == 2);
}

const CallExpr* printCall(const Expr* e, const ASTContext& ast) {
  const auto* c = dyn_cast_or_null<CallExpr>(strip(e));
  if (!c || isa<CXXOperatorCallExpr>(c)) return nullptr;
  const HostRole role = hostRole(c->getDirectCallee());
  if (isa<CXXMemberCallExpr>(c) && role != HostRole::Print) return nullptr;
  if (role == HostRole::Print || role == HostRole::Shell) return c;
  if (role != HostRole::PrintTo) return nullptr;
  for (const Expr* a : c->arguments())
    if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a)); r && isConsoleStream(r->getDecl())) return c;
  return toConsoleDescriptor(c, ast) ? c : nullptr;
}

// Messages for the author, not results.
bool toErrors(const DeclRefExpr* stream) { return stream->getDecl()->getName() != "cout" && stream->getDecl()->getName() != "stdout"; }

bool toErrors(const CallExpr* call) {
  if (const FunctionDecl* f = call->getDirectCallee(); f && f->getIdentifier() && f->getName() == "perror") return true;
  for (const Expr* a : call->arguments())
    if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a)); r && isConsoleStream(r->getDecl())) return toErrors(r);
  return false;
}

// The output stands in a macro's body: the use of the macro is guarded. False: that cannot be done, and the edit gate says why.
bool guardMacro(Model& m, const Expr* output, bool errors, bool report) {
  const MacroOutput macro = macroOutput(m, output);
  if (!macro.statement) return false;
  if (!macro.leaves && !report && m.effectFreeIn(macro.statement))
    return m.context.edits.guard(macro.statement, "if (hvd::is_root()) ", {DiagID::RootOutput, "printed once"}), true;
  if (!errors && !report) return false;
  m.context.diags.report(DiagID::OutputOnEveryRank, macro.statement->getSourceRange(), report ? "reports an error" : "may leave the function");
  return true;
}

// One statement that writes to the console, or a part of one.
struct Output {
  const Expr* whole;
  const CallExpr* call;        ///< of a function that writes, or null
  const DeclRefExpr* stream;   ///< at the left end of a chain of <<, or null
  bool errors() const { return call ? toErrors(call) : toErrors(stream); }
  SourceRange named() const { return stream ? stream->getSourceRange() : call->getCallee()->getSourceRange(); }
};

// No shell command, and no flush.
bool writes(const Output& o) {
  return o.stream || (hostRole(o.call->getDirectCallee()) != HostRole::Shell && o.call->getDirectCallee()->getName() != "fflush");
}

// std::cout << std::fixed << std::setprecision(4): says how, and writes nothing. A rank that reports an error needs it as well.
bool formatsOnly(const Output& o) {
  const Expr* e = o.stream ? strip(o.whole) : nullptr;
  while (e && e != o.stream) {
    const auto* c = dyn_cast<CXXOperatorCallExpr>(e);
    if (!c || c->getOperator() != OO_LessLess || c->getNumArgs() != 2) return false;
    const Expr* what = strip(c->getArg(1));
    const auto* named = dyn_cast<DeclRefExpr>(what);
    const auto* f = named ? dyn_cast<FunctionDecl>(named->getDecl()) : calleeOf(what);
    if (!f || !isSystemDecl(f) || !f->getDeclName().isIdentifier()) return false;
    static const llvm::StringSet<> formats = {"fixed", "scientific", "defaultfloat", "hexfloat", "boolalpha", "noboolalpha", "showpos", "noshowpos", "showpoint", "noshowpoint",
                                              "dec", "hex", "oct", "left", "right", "internal", "setprecision", "setfill", "setbase", "setiosflags", "resetiosflags"};
    if (!formats.contains(f->getName())) return false;
    e = strip(c->getArg(0));
  }
  return e != nullptr;
}

// `(std::cout << ... << values) << '\n';`, `(std::printf("%d ", values), ...);`: what a fold expression becomes has lost its parentheses, and an `if` would
// come behind the first of them.
bool standsInParentheses(const Model& m, const Expr* e) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  if (e->getBeginLoc().isMacroID()) return false;
  const auto [file, offset] = sm.getDecomposedLoc(e->getBeginLoc());
  return sm.getBufferData(file).take_front(offset).rtrim().ends_with("(");
}

void keepToRoot(Model& m, const ErrorReports& reports, const FileAccess& access, const Output& o) {
  if (formatsOnly(o) || m.folderLoops->holds(o.whole)) return;
  const Why why{DiagID::RootOutput, "printed once"};
  const bool report = writes(o) && reports.contains(o.whole, o.errors());
  const DiagID id = report ? DiagID::ErrorOutput : DiagID::RootOutput;
  if (!m.context.edits.canEdit(o.named()) && guardMacro(m, o.whole, o.errors(), report)) return;
  const bool needed = o.call && !report && isResultNeeded(m, o.whole);
  const bool whole = !needed && isWholeStatement(m.code, o.whole) && !standsInParentheses(m, o.whole) && m.effectFree(o.whole) && !access.waitsIn(o.whole);
  if (needed) {  // total += write(1, line, n);
    const bool free = llvm::all_of(argumentsOf(o.whole), [&](const Expr* a) { return m.effectFree(a); });
    if (!free || m.threads.mayRun(o.whole)) {
      m.context.diags.report(DiagID::OutputNeeded, o.whole->getSourceRange(), m.text(o.whole),
                             free ? "its result is used on a thread, where the ranks do not meet" : "its result is used, and its arguments have effects; compute them before the call");
      return;
    }
    m.context.diags.report(id, o.whole->getSourceRange());
    m.context.edits.wrap(o.whole, "hvd::from_root([&] { return ", "; })", why);
    return;
  }
  if (o.call && hasNoAddress(o.call->getDirectCallee()) && (report || !whole)) {
    if (report) m.context.diags.report(DiagID::OutputOnEveryRank, o.whole->getSourceRange(), "reports an error");
    else m.context.diags.report(DiagID::OutputNeeded, o.whole->getSourceRange(), m.text(o.whole), "its arguments have effects; compute them before the call");
    return;
  }
  m.context.diags.report(id, o.whole->getSourceRange());
  if (report) {
    const Why shown{id, "by the rank that has the error"};
    if (o.stream) m.context.edits.wrap(o.stream, "hvd::error_stream(", ")", shown);
    else m.context.edits.wrap(o.call->getCallee()->IgnoreParenImpCasts(), "hvd::error_call(", ")", shown);
  } else if (whole) {
    m.context.edits.guard(o.whole, "if (hvd::is_root()) ", why);
  } else if (o.stream) {
    m.context.edits.wrap(o.stream, "hvd::root_stream(", ")", why);
  } else {
    m.context.edits.wrap(o.call->getCallee()->IgnoreParenImpCasts(), "hvd::root_only(", ")", why);
  }
}

// std::cout.write(text, n), but not std::cout.precision(4), std::cout.flush().
bool writesText(const MemberExpr* method) {
  const std::string name = method->getMemberDecl()->getNameAsString();
  return name == "write" || name == "put" || name == "operator<<";
}

// std::cout.rdbuf(), to write there by another stream; not std::cout.rdbuf(buffer), which the stream of every rank gets.
bool givesBuffer(const Model& m, const MemberExpr* method) {
  const auto* call = dyn_cast_or_null<CallExpr>(m.code.parent(method));
  return method->getMemberDecl()->getNameAsString() == "rdbuf" && call && call->getNumArgs() == 0;
}

// std::cout.rdbuf(text.rdbuf()): what is printed would be kept by one rank only.
void refuseCaptured(Model& m, const Expr* e) {
  const auto* call = dyn_cast<CXXMemberCallExpr>(e);
  if (!call || call->getNumArgs() != 1 || calleeName(call) != "rdbuf" || !objectOf(call)) return;
  const auto* stream = dyn_cast<DeclRefExpr>(strip(objectOf(call)));
  if (!stream || !isConsoleStream(stream->getDecl())) return;
  for (const Expr* o : m.definitions.origins(call->getArg(0))) {
    const CXXRecordDecl* buffer = strip(o)->getType()->getPointeeCXXRecordDecl();
    if (buffer && buffer->isInStdNamespace() && buffer->getName() == "basic_stringbuf")
      m.context.diags.report(DiagID::OutputNeeded, call->getSourceRange(), m.text(call), "what is printed from here on is kept as a text, and would be one rank's only; write to the stream of that text");
  }
}

// `if (!file)`, `file.is_open()`, `file.close()`: nothing of what a stream holds is read.
bool asksStateOnly(const Model& m, const Expr* use) {
  const Stmt* p = m.code.parent(use);
  while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = m.code.parent(p);
  const auto* member = dyn_cast_or_null<MemberExpr>(p);
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p)) return o->getOperator() == OO_Exclaim;
  if (!member) return isa_and_nonnull<IfStmt>(p);
  return isa<CXXConversionDecl>(member->getMemberDecl()) ||
         llvm::is_contained({"is_open", "close", "open", "good", "fail", "bad"}, member->getMemberDecl()->getNameAsString());
}

// `std::cout << text.rdbuf()` takes out of the text what it shows: by the root only, so nothing of it may be read besides.
void refuseEmptied(Model& m, const Expr* e) {
  const auto* shown = dyn_cast<CXXOperatorCallExpr>(e);
  if (!shown || shown->getOperator() != OO_LessLess || shown->getNumArgs() != 2 || !chainStart(shown)) return;
  const auto* buffer = dyn_cast<CXXMemberCallExpr>(strip(shown->getArg(1)));
  if (!buffer || calleeName(buffer) != "rdbuf" || !objectOf(buffer)) return;
  const auto* stream = dyn_cast_or_null<VarDecl>(declOf(strip(objectOf(buffer))));
  const bool alone = stream && stream->isLocalVarDecl() && llvm::all_of(m.definitions.uses(stream), [&](const Expr* use) {
    return isWithin(m.code, use, buffer) || asksStateOnly(m, use);
  });
  if (!alone)
    m.context.diags.report(DiagID::OutputNeeded, shown->getSourceRange(), m.text(buffer), "what is shown is taken out of the stream, by one rank only, and the stream is used besides; show its text, `.str()`");
}

// std::ostream screen(before), of the buffer that std::cout had before it got another one.
void refuseOtherStreams(Model& m, const Expr* e) {
  const auto* made = dyn_cast<CXXConstructExpr>(e);
  const Expr* buffer = made && made->getNumArgs() > 0 ? made->getArg(0) : nullptr;
  const CXXRecordDecl* stream = made ? made->getType()->getAsCXXRecordDecl() : nullptr;
  if (!buffer || !buffer->getType()->isPointerType() || !stream || !stream->isInStdNamespace() || stream->getName() != "basic_ostream") return;
  for (const Expr* o : m.definitions.origins(buffer)) {
    const auto* call = dyn_cast<CXXMemberCallExpr>(strip(o));
    const auto* r = call && call->getNumArgs() > 0 && objectOf(call) ? dyn_cast<DeclRefExpr>(strip(objectOf(call))) : nullptr;
    if (r && isConsoleStream(r->getDecl()))
      m.context.diags.report(DiagID::OutputNeeded, made->getSourceRange(), m.text(made), "another stream writes to the console, on every rank; write to the console's own, or take its buffer with rdbuf() before it gets another");
  }
}

constexpr const char* kBeforeMain = "it is written before main begins, by every rank; write it in main";

// What the initialisers of globals call, constructors among it.
llvm::DenseSet<const FunctionDecl*> runBeforeMain(const Model& m) {
  llvm::DenseSet<const FunctionDecl*> out;
  llvm::SmallVector<const FunctionDecl*, 8> open;
  const auto look = [&](const Expr* e) {
    for (const FunctionDecl* f : m.code.targets(e))
      if (out.insert(f->getCanonicalDecl()).second) open.push_back(f);
  };
  for (const ValueDecl* d : m.code.globals())
    if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit()) forEachExpr(v->getInit(), look);
  while (!open.empty())
    if (const Function* known = m.code.find(open.pop_back_val())) forEachExpr(known->body, look);
  return out;
}

// auto log = &std::printf;
bool isHandedOn(const Model& m, const DeclRefExpr* function) {
  if (hostRole(cast<FunctionDecl>(function->getDecl())) != HostRole::Print) return false;
  const Stmt* p = m.code.parent(function);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = m.code.parent(p);
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  return !call || call->getCallee()->IgnoreParenImpCasts() != function;
}

void consoleOutput(Model& m, const FileAccess& access) {
  const Why why{DiagID::RootOutput, "printed once"};
  const ErrorReports reports(m);
  const llvm::DenseSet<const FunctionDecl*> early = runBeforeMain(m);
  for (const Function& f : m.code.functions()) {
    llvm::DenseSet<const Expr*> done;
    const bool beforeMain = early.contains(f.decl->getCanonicalDecl());
    forEachExpr(f.body, [&](const Expr* e) {
      const Expr* inner = strip(e);
      const CallExpr* call = printCall(inner, m.context.ast);
      const DeclRefExpr* stream = isa<CXXOperatorCallExpr>(inner) ? chainStart(inner) : nullptr;
      if ((!call && !stream) || e != inner) return;
      if (stream && !done.insert(stream).second) return;
      const Output output{inner, call, stream};
      if (beforeMain && !output.errors() && writes(output)) m.context.diags.report(DiagID::OutputNeeded, inner->getSourceRange(), m.text(inner), kBeforeMain);
      else keepToRoot(m, reports, access, output);
      if (call)
        for (const Expr* a : call->arguments())
          if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(a))) done.insert(r);
    });
    // The console stream as an argument, a reference, an operand of ?: ...
    forEachExpr(f.body, [&](const Expr* e) {
      const auto* r = dyn_cast<DeclRefExpr>(e);
      if (r && isa<FunctionDecl>(r->getDecl()) && isHandedOn(m, r))
        m.context.diags.report(DiagID::OutputNeeded, r->getSourceRange(), m.text(r), "the function is kept or handed on, and whatever calls it would write on every rank; call it by its name");
      refuseOtherStreams(m, e);
      refuseCaptured(m, e);
      refuseEmptied(m, e);
      if (!r || !isConsoleStream(r->getDecl()) || done.count(r)) return;
      const Stmt* p = m.code.parent(r);
      if (p && isa<ImplicitCastExpr>(p)) p = m.code.parent(p);
      // report(stdout, loss): to a function of the author's; setvbuf(stdout, ...) concerns every rank.
      if (r->getType()->isPointerType() && (!isa_and_nonnull<CallExpr>(p) || m.code.targets(cast<Expr>(p)).empty())) return;
      if (const auto* member = dyn_cast_or_null<MemberExpr>(p); member && !writesText(member) && !givesBuffer(m, member)) return;
      m.context.diags.report(DiagID::RootOutput, r->getSourceRange());
      // `#define LINFO Log(std::cout)`: what the macro says is right for all its uses.
      const SourceManager& sm = m.context.ast.getSourceManager();
      const SourceRange spelled(sm.getSpellingLoc(r->getBeginLoc()), sm.getSpellingLoc(r->getEndLoc()));
      const bool inMacro = r->getBeginLoc().isMacroID() && !m.context.edits.canEdit(r->getSourceRange()) && m.context.edits.canEdit(spelled);
      m.context.edits.wrap(inMacro ? spelled : r->getSourceRange(), "hvd::root_stream(", ")", why);
    });
  }
}

// With a mode that is known only when it is run, a file that is read stays what it is on every rank.
void rootPath(Model& m, const Expr* path, const Expr* mode = nullptr) {
  m.context.diags.report(DiagID::RootPath, path->getSourceRange(), m.text(path));
  m.context.edits.wrap(path, "hvd::root_path(", mode ? ", " + m.text(mode) + ")" : ")", {DiagID::RootPath, "written once"});
}

// A command that is written to (a plot, a video) runs once; what the other ranks write is forgotten.
void rootCommand(Model& m, const Expr* open, llvm::ArrayRef<const Expr*> arguments) {
  const auto* mode = dyn_cast<StringLiteral>(strip(arguments[1]));
  if (!mode || !mode->getString().starts_with("w")) {
    m.context.diags.report(DiagID::OutputNeeded, open->getSourceRange(), m.text(open), "what the command answers is read");
    return;
  }
  m.context.diags.report(DiagID::RootPath, arguments[0]->getSourceRange(), m.text(arguments[0]));
  m.context.edits.wrap(arguments[0], "hvd::root_command(", ")", {DiagID::RootPath, "run once"});
}

// A member's initialiser belongs to no statement.
bool isInStatement(const AuthorCode& code, const Stmt* s) {
  while (isa_and_nonnull<Expr>(s)) s = code.parent(s);
  return s;
}

void readAfterWrite(Model& m, const FileAccess& access) {
  for (const Expr* read : access.readsOfStreams()) {
    if (!access.isVisible(read)) {
      m.context.diags.report(DiagID::AssumeFilesApart, read->getSourceRange(), m.text(read));
      continue;
    }
    m.context.diags.report(DiagID::FileAwaited, read->getSourceRange());
    const Why why{DiagID::FileAwaited, "until the root has written"};
    if (isa<CallExpr>(read) && !isInStatement(m.code, read)) m.context.edits.wrap(read, "(hvd::barrier(), ", ")", why);
    else m.context.edits.insertBefore(read, "hvd::barrier();", why);
  }
}

void writeAfterRead(Model& m, const FileAccess& access) {
  for (const Expr* write : access.writesAfterReads()) {
    if (m.folderLoops->holds(write)) continue;
    m.context.diags.report(DiagID::FileAwaited, write->getSourceRange());
    m.context.edits.insertBefore(write, "hvd::barrier();", {DiagID::FileAwaited, "until all have read"});
  }
}

// `save(samples, name(++count))`: what the arguments do besides happens on every rank, before the call. False when that cannot be written.
bool argumentsBefore(Model& m, const Expr* save) {
  const Entry* entry = m.context.dialect.lookup(save);
  const auto arguments = argumentsOf(save);
  if (objectOf(save) && !m.effectFree(objectOf(save))) return false;
  for (const Expr* a : arguments)
    if (a->getType()->isVoidType() || !m.context.edits.canEdit(a->getSourceRange()) || (!m.effectFree(a) && m.kinds.combines(a))) return false;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Expr* a = arguments[i];
    if (m.effectFree(a)) continue;
    const std::string name = m.variableFor(a, entry && static_cast<int>(i) == entry->path ? "path" : "saved");
    const Why why{DiagID::RootFile, "computed on every rank"};
    m.context.edits.insertBefore(save, "const auto " + name + " = " + m.text(a) + ";", why);
    m.context.edits.replace(a, name, why);
  }
  return true;
}

// Creates, removes or writes a file without a stream that could be led elsewhere.
void changeOfFile(Model& m, const FileAccess& access, const Expr* e) {
  m.context.diags.report(DiagID::RootFile, e->getSourceRange());
  const Why why{DiagID::RootFile, "done once"};
  const bool whole = isWholeStatement(m.code, e);
  const bool free = llvm::all_of(argumentsOf(e), [&](const Expr* a) { return m.effectFree(a); });
  if (!free && (!whole || !argumentsBefore(m, e)))
    m.context.diags.report(DiagID::OutputNeeded, e->getSourceRange(), m.text(e), "its arguments have effects; compute them before the call");
  else if (whole && access.isReadLater(e)) m.context.edits.wrap(e, "hvd::from_root([&] { ", "; })", why);
  else if (whole) m.context.edits.guard(e, "if (hvd::is_root()) ", why);
  else m.context.edits.wrap(e, "hvd::from_root([&] { return ", "; })", why);
}

void files(Model& m, const FileAccess& access) {
  const auto visit = [&](const Expr* e) {
    const FunctionDecl* f = calleeOf(e);
    if (!f || m.folderLoops->holds(e)) return;
    const auto arguments = argumentsOf(e);
    const HostRole role = hostRole(f);
    if (const auto opened = openedFile(e, m.definitions); opened && opened->writes) {
      if (opened->exclusive)
        m.context.diags.report(DiagID::OutputNeeded, e->getSourceRange(), m.text(e), "it opens a file only if there is none, and what the other ranks write to is always there; let the root test for the file, and open it without that condition");
      else if (opened->mode && m.effectFree(opened->mode)) rootPath(m, opened->path, opened->mode);
      else if (opened->reads) m.context.diags.report(DiagID::OutputNeeded, e->getSourceRange(), m.text(e), "the stream writes and reads");
      else rootPath(m, opened->path);
      return;
    }
    if (role == HostRole::OpenPipe && arguments.size() >= 2) return rootCommand(m, e, arguments);
    if (role == HostRole::FileChange || role == HostRole::PictureWrite) changeOfFile(m, access, e);
  };
  // A stream may be opened before main begins; what else is done to files there has no statement that could be kept to one rank.
  const auto early = [&](const Expr* e) {
    const HostRole role = calleeOf(e) ? hostRole(calleeOf(e)) : HostRole::None;
    if (openedFile(e, m.definitions)) visit(e);
    else if (role == HostRole::OpenPipe || role == HostRole::FileChange || role == HostRole::PictureWrite)
      m.context.diags.report(DiagID::OutputNeeded, e->getSourceRange(), m.text(e), "it happens before main begins; do it there");
  };
  for (const Root& r : m.code.roots())
    if (r.isGlobal()) forEachExpr(r.code, early);
    else forEachExpr(r.code, visit);
}

void checkpoints(Model& m, const FileAccess& access) {
  for (const Site& s : m.sites.of(Role::Save)) {
    if (m.folderLoops->holds(s.call) || m.memory.concerns(s.call)) continue;
    m.context.diags.report(DiagID::RootFile, s.call->getSourceRange());
    if (!isWholeStatement(m.code, s.call) && s.call->getType()->isVoidType() && m.effectFree(s.call)) {  // best = loss, save(net, path);
      m.context.edits.wrap(s.call, "hvd::from_root([&] { ", "; })", {DiagID::RootFile, "written once"});
      continue;
    }
    if (!isWholeStatement(m.code, s.call)) {
      m.context.diags.report(DiagID::OutputNeeded, s.call->getSourceRange(), m.text(s.call), "its result is used");
      continue;
    }
    const Why why{DiagID::RootFile, "written once"};
    const bool free = m.effectFree(s.call) || argumentsBefore(m, s.call);
    if (free && access.isReadLater(s.call)) {
      m.context.diags.report(DiagID::FileAwaited, s.call->getSourceRange());
      m.context.edits.wrap(s.call, "hvd::from_root([&] { ", "; })", {DiagID::FileAwaited, "the others wait: they read the file later"});
    } else if (free) {
      m.context.edits.guard(s.call, "if (hvd::is_root()) ", why);
    } else {
      m.context.diags.report(DiagID::OutputNeeded, s.call->getSourceRange(), m.text(s.call), "its arguments have effects; compute them before the call");
    }
  }
}

void folders(Model& m, const FileAccess& access) {
  for (const FolderLoops::Loop& loop : m.folderLoops->loops()) {
    if (loop.refusal) {
      m.context.diags.report(DiagID::OutputNeeded, loop.change->getSourceRange(), m.text(loop.change), loop.refusal);
      continue;
    }
    m.context.diags.report(DiagID::RootFile, loop.change->getSourceRange());
    m.context.edits.insertBefore(loop.statement, "hvd::barrier();", {DiagID::FileAwaited, "until all have read"});
    m.context.edits.guard(loop.statement, "if (hvd::is_root()) ", {DiagID::RootFile, "done once, by the rank whose listing it is"});
    if (access.isReadLater(loop.change)) m.context.edits.insertAfter(loop.statement, "hvd::barrier();", {DiagID::FileAwaited, "until the root has changed the files"});
  }
}

}  // namespace

bool isConsoleOutput(const Model& m, const Expr* e) {
  const Expr* inner = strip(e);
  return printCall(inner, m.context.ast) || (isa<CXXOperatorCallExpr>(inner) && chainStart(inner));
}

void keepOutputToRoot(Model& m) {
  const FileAccess access(m);
  consoleOutput(m, access);
  files(m, access);
  folders(m, access);
  readAfterWrite(m, access);
  writeAfterRead(m, access);
  checkpoints(m, access);
}

}  // namespace hvdize
