// SPDX-License-Identifier: Apache-2.0
#include "rewriters/driver.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <functional>
#include <map>

#include "rewriters/passes/passes.h"
#include "rewriters/program/author.h"
#include "rewriters/program/uninstantiated.h"
#include "rewriters/source/format.h"
#include "rewriters/source/framework_bodies.h"
#include "rewriters/verify/verify.h"

namespace hvdize {
namespace {

using Work = std::function<void(clang::ASTContext&, const IncludeList&)>;

/// Parses, notes the includes, and calls `work` when there were no errors.
class ParseAction : public clang::ASTFrontendAction {
 public:
  /// Bodies of the frameworks of `dialects` are skipped; none: everything is parsed.
  /// `several`: the main file only includes the sources of a program.
  ParseAction(Work work, llvm::ArrayRef<const Dialect*> dialects, bool several) : work_(std::move(work)), dialects_(dialects), several_(several) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(collectIncludes(compiler.getSourceManager(), includes_, several_));
    compiler.getFrontendOpts().SkipFunctionBodies = !dialects_.empty();
    return std::make_unique<Consumer>(*this, compiler);
  }

 private:
  struct Consumer : clang::ASTConsumer {
    Consumer(ParseAction& a, clang::CompilerInstance& c)
        : action(a), compiler(c), bodies(c.getSourceManager(), a.dialects_, a.includes_) {}
    bool shouldSkipFunctionBody(clang::Decl* d) override { return bodies.contains(d); }
    void HandleTranslationUnit(clang::ASTContext& ast) override {
      if (!compiler.getDiagnostics().hasErrorOccurred()) action.work_(ast, action.includes_);
    }
    ParseAction& action;
    clang::CompilerInstance& compiler;
    FrameworkBodies bodies;
  };

  Work work_;
  llvm::ArrayRef<const Dialect*> dialects_;
  bool several_;
  IncludeList includes_;
};

/// The first error of a parse, and everything the compiler printed.
class ErrorKeeper : public clang::DiagnosticConsumer {
 public:
  explicit ErrorKeeper(std::string& text) : os_(text), printer_(os_, new clang::DiagnosticOptions) {}
  void BeginSourceFile(const clang::LangOptions& lo, const clang::Preprocessor* pp) override { printer_.BeginSourceFile(lo, pp); }
  void EndSourceFile() override { printer_.EndSourceFile(); }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level >= clang::DiagnosticsEngine::Error && firstMessage.empty()) {
      llvm::SmallString<128> text;
      info.FormatDiagnostic(text);
      firstMessage = text.str().str();
      if (info.hasSourceManager() && info.getLocation().isValid())
        place(info);
    }
    printer_.HandleDiagnostic(level, info);
  }
  std::string firstMessage, firstFile;
  unsigned firstLine = 0;

 private:
  void place(const clang::Diagnostic& info) {
    const clang::SourceManager& sm = info.getSourceManager();
    firstLine = sm.getExpansionLineNumber(info.getLocation());
    firstFile = plainPath(sm.getFilename(sm.getExpansionLoc(info.getLocation())));
  }

  llvm::raw_string_ostream os_;
  clang::TextDiagnosticPrinter printer_;
};

class Rewriter {
 public:
  Rewriter(const RewriteOptions& options, const CompileJob& job, llvm::ArrayRef<const Dialect*> dialects, const std::string& resourceDir, DiagEngine& diags,
           const Stages& stages)
      : options_(options), job_(job), dialects_(dialects), dialect_(dialects.front()), resourceDir_(resourceDir), diags_(diags), stages_(stages),
        skipBodies_(options.skipBodies) {}

  RewriteResult run() {
    const DiagEngine before = diags_;
    analyse();
    if (result_.status == RewriteStatus::Written && options_.verify) checkOutput();
    if (result_.status == RewriteStatus::Refused && result_.summary.sharedEvaluation) return wholeEvaluation(before);
    if (result_.status == RewriteStatus::DoesNotCompile && several()) blameOne();
    if (result_.status == RewriteStatus::Written && settle(result_.files, job_.place, base())) result_.quoteFolder = base();
    return std::move(result_);
  }

 private:
  using Texts = std::map<std::string, std::string>;
  bool several() const { return !job_.further.empty(); }
  std::string base() const;
  RewriteResult wholeEvaluation(const DiagEngine& before);
  bool parse(Texts texts, ErrorKeeper& errors, Work work);
  bool parseFile(const std::string& file, const Texts& texts, ErrorKeeper& errors, Work work);
  bool parseForFacts(const Texts& texts, ErrorKeeper& errors, Work work);
  void blameOne();
  void analyse();
  void chooseDialect(const IncludeList& includes);
  void edit(clang::ASTContext& ast, const IncludeList& includes);
  void checkOutput();
  void unchanged() {
    result_.status = RewriteStatus::Unchanged;
  }

  const RewriteOptions& options_;
  const CompileJob& job_;
  llvm::ArrayRef<const Dialect*> dialects_;
  const Dialect* dialect_;
  const std::string& resourceDir_;
  DiagEngine& diags_;
  const Stages& stages_;
  std::string frameworkFolder_;
  bool skipBodies_;
  LineMaps maps_;
  DiagPlace clash_;  // the first error when several sources are read together
  std::string clashMessage_;
  RewriteResult result_;
};

std::string Rewriter::base() const {
  if (!job_.base.empty()) return job_.base;
  llvm::SmallString<256> p(job_.file);
  llvm::sys::fs::make_absolute(job_.directory, p);
  return llvm::sys::path::parent_path(p).str();
}

/// Sharing out the evaluation must cost nobody the program: when the result is refused, it is tried without.
RewriteResult Rewriter::wholeEvaluation(const DiagEngine& before) {
  diags_ = before;
  RewriteOptions options = options_;
  options.evaluation = EvaluationPolicy::Whole;
  return Rewriter(options, job_, dialects_, resourceDir_, diags_, stages_).run();
}

/// Only the author's declarations are traversed: a framework's headers hold hundreds of thousands of nodes.
void scopeToAuthor(clang::ASTContext& ast, const std::string& frameworkFolder) {
  const AuthorFiles files(ast.getSourceManager(), frameworkFolder);
  std::vector<clang::Decl*> authors;
  for (clang::Decl* d : ast.getTranslationUnitDecl()->decls())
    if (files.contains(d->getLocation())) authors.push_back(d);
  ast.setTraversalScope(authors);
}

/// Files named in `texts` have those texts; their quoted includes are found as before.
bool Rewriter::parseFile(const std::string& file, const Texts& texts, ErrorKeeper& errors, Work work) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> fs(new llvm::vfs::OverlayFileSystem(llvm::vfs::createPhysicalFileSystem()));
  if (!job_.directory.empty()) fs->setCurrentWorkingDirectory(job_.directory);
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
  if (auto cwd = fs->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*cwd);
  for (const auto& [path, text] : texts) memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  if (!texts.empty()) fs->pushOverlay(memory);
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions(), fs));
  // Without carets the compiler keeps "1 error generated." to itself; our printer draws its own.
  std::vector<std::string> command = {"clang++", "-fsyntax-only", "-w", "-fno-caret-diagnostics", "-resource-dir", resourceDir_};
  command.insert(command.end(), job_.flags.begin(), job_.flags.end());
  command.push_back(file);
  const auto dialects = skipBodies_ ? dialects_ : llvm::ArrayRef<const Dialect*>();
  clang::tooling::ToolInvocation invocation(std::move(command), std::make_unique<ParseAction>(std::move(work), dialects, several()), files.get());
  invocation.setDiagnosticConsumer(&errors);
  return invocation.run() && errors.getNumErrors() == 0;
}

/// Several sources are read one after another, as one translation unit.
bool Rewriter::parse(Texts texts, ErrorKeeper& errors, Work work) {
  if (!several()) return parseFile(job_.file, texts, errors, std::move(work));
  const std::string whole = "the whole program.cpp";
  std::string& text = texts[whole];
  for (const std::string& s : job_.sources()) text += "#include \"" + s + "\"\n";
  return parseFile(whole, texts, errors, std::move(work));
}

/// The sources do not compile together. When each does alone, their names clash: a refusal. Else the first that does not is to blame.
void Rewriter::blameOne() {
  const DiagPlace clash = std::move(clash_);
  const std::string message = std::move(clashMessage_);
  CompileJob one = job_;
  for (const std::string& s : job_.sources()) {
    result_.compilerOutput.clear();
    one.file = s;
    one.further.clear();
    ErrorKeeper errors(result_.compilerOutput);
    Rewriter alone(options_, one, dialects_, resourceDir_, diags_, stages_);
    if (!alone.parseFile(s, {}, errors, [](clang::ASTContext&, const IncludeList&) {})) return;
  }
  diags_.add(DiagID::UnitsClash, clash, {message});
  result_.status = RewriteStatus::Refused;
}

// A template of the author's may be instantiated by a body of the framework that was skipped: its facts would be missing without a
// word. Where one stays uninstantiated, everything is parsed.
bool Rewriter::parseForFacts(const Texts& texts, ErrorKeeper& errors, Work work) {
  bool incomplete = false;
  const bool parsed = parse(texts, errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
    chooseDialect(includes);
    scopeToAuthor(ast, frameworkFolder_);
    const AuthorFiles files(ast.getSourceManager(), frameworkFolder_);
    incomplete = skipBodies_ && llvm::any_of(AuthorCode(ast, files).uninstantiated(), mayHoldFacts);
    if (!incomplete) work(ast, includes);
  });
  if (!incomplete) return parsed;
  skipBodies_ = false;
  return parseForFacts(texts, errors, std::move(work));
}

// The header that a rewritten program includes tells most, then what the file names itself, then what comes with other headers.
void Rewriter::chooseDialect(const IncludeList& includes) {
  const auto chosen = [&](auto&& fits) {
    const auto it = std::find_if(dialects_.begin(), dialects_.end(), [&](const Dialect* d) { return fits(*d); });
    if (it == dialects_.end()) return false;
    dialect_ = *it;
    return true;
  };
  chosen([&](const Dialect& d) { return includes.includesDirectly({d.runtimeHeader().str()}); }) ||
      chosen([&](const Dialect& d) { return includes.includesDirectly(d.reveals().vec()); }) ||
      chosen([&](const Dialect& d) { return includes.includesAny(d.reveals().vec()); });
  frameworkFolder_ = includes.folderOf(dialect_->reveals().vec(), dialect_->layout().str());
  result_.summary.dialect = dialect_->name().str();
  result_.summary.runtimeHeader = dialect_->runtimeHeader().str();
}

void Rewriter::analyse() {
  ErrorKeeper errors(result_.compilerOutput);
  const bool parsed = parseForFacts({}, errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
    clang::SourceManager& sm = ast.getSourceManager();
    diags_.setSource(sm, ast.getLangOpts());
    result_.userFiles = includes.userFiles;
    edit(ast, includes);
  });
  if (parsed) return;
  result_.status = RewriteStatus::DoesNotCompile;
  result_.files.clear();
  clash_.file = errors.firstFile;
  clash_.line = clash_.endLine = errors.firstLine;
  clash_.column = clash_.endColumn = errors.firstLine > 0 ? 1 : 0;
  clashMessage_ = errors.firstMessage;
}

void Rewriter::edit(clang::ASTContext& ast, const IncludeList& includes) {
  const EditSet none(ast, includes, [](clang::SourceLocation) { return false; }, diags_);
  result_.files = collectFiles(ast.getSourceManager(), none, includes, job_.sources());
  const std::string runtime = dialect_->runtimeHeader().str();
  if (includes.includes(runtime)) {
    diags_.reportFile(DiagID::AlreadyDistributed, job_.file, runtime);
    return unchanged();
  }
  if (frameworkFolder_.empty()) {
    diags_.reportFile(DiagID::NotThisDialect, job_.file, dialect_->title(), dialect_->reveals().front());
    return unchanged();
  }
  const AuthorFiles author(ast.getSourceManager(), frameworkFolder_);
  EditSet edits(ast, includes, [&](clang::SourceLocation at) { return author.contains(at); }, diags_);
  PassContext context{ast, *dialect_, diags_, options_, edits, result_.summary, frameworkFolder_};
  stages_.passes(context);
  if (diags_.hasRefusals()) {
    result_.status = RewriteStatus::Refused;
    result_.files.clear();
    return;
  }
  if (edits.empty()) {
    if (!options_.printModel) diags_.reportFile(DiagID::NoTrainer, job_.file);
    return unchanged();
  }
  edits.addInclude(runtime, dialect_->reveals().front(), {DiagID::HeaderIncluded, "the inserted calls are declared there"});
  result_.files = collectFiles(ast.getSourceManager(), edits, includes, job_.sources());
  result_.status = RewriteStatus::Written;
}

void Rewriter::checkOutput() {
  std::string printed;
  ErrorKeeper errors(printed);
  Texts texts;
  for (const FileResult& f : result_.files)
    if (f.output != f.input) texts[f.path] = f.output, maps_[plainPath(f.path)] = f.map;
  const bool parsed = parse(std::move(texts), errors, [&](clang::ASTContext& ast, const IncludeList&) {
    diags_.setSource(ast.getSourceManager(), ast.getLangOpts(), &maps_);
    scopeToAuthor(ast, frameworkFolder_);
    stages_.verify(ast, *dialect_, diags_, frameworkFolder_);
  });
  if (!parsed) {
    DiagPlace place;
    place.file = errors.firstFile.empty() ? job_.file : errors.firstFile;
    place.line = errors.firstLine;
    if (const auto map = maps_.find(place.file); map != maps_.end() && place.line > 0) place.line = map->second.oldLine(place.line).line;
    place.column = place.endColumn = place.line > 0 ? 1 : 0;
    place.endLine = place.line;
    diags_.add(DiagID::RewriteDoesNotCompile, std::move(place), {errors.firstMessage});
    result_.compilerOutput = printed;
  }
  if (!diags_.hasRefusals()) return;
  result_.status = RewriteStatus::Refused;
  result_.files.clear();
}

}  // namespace

std::vector<std::string> CompileJob::sources() const {
  std::vector<std::string> all = {file};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

Stages Stages::usual() { return {runPasses, verifyRewritten}; }

RewriteResult rewrite(const RewriteOptions& options, const CompileJob& job, llvm::ArrayRef<const Dialect*> dialects, const std::string& resourceDir,
                      DiagEngine& diags, const Stages& stages) {
  return Rewriter(options, job, dialects, resourceDir, diags, stages).run();
}

}  // namespace hvdize
