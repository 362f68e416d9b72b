// SPDX-License-Identifier: Apache-2.0
#include "rewriters/driver.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <map>

#include "rewriters/parse/hidden_repeats.h"
#include "rewriters/parse/parser.h"
#include "rewriters/parse/private_names.h"
#include "rewriters/passes/passes.h"
#include "rewriters/program/author.h"
#include "rewriters/program/defined_names.h"
#include "rewriters/program/left_out.h"
#include "rewriters/program/uninstantiated.h"
#include "rewriters/source/format.h"
#include "rewriters/source/repeated_headers.h"
#include "rewriters/verify/verify.h"

namespace hvdize {
namespace {

using Work = Parser::Work;

class Rewriter {
 public:
  Rewriter(const RewriteOptions& options, const CompileJob& job, llvm::ArrayRef<const Dialect*> dialects, const std::string& resourceDir, DiagEngine& diags,
           const Stages& stages)
      : options_(options), job_(job), dialects_(dialects), dialect_(dialects.front()), resourceDir_(resourceDir), diags_(diags), stages_(stages),
        skipBodies_(options.skipBodies) {}

  RewriteResult run() {
    const DiagEngine before = diags_;
    analyse();
    if (several() && (mixed_ || result_.status == RewriteStatus::DoesNotCompile)) separate();
    if (result_.status == RewriteStatus::Written && options_.verify) checkOutput();
    if (result_.status == RewriteStatus::Refused && keepSizes(before)) return std::move(result_);
    if (result_.status == RewriteStatus::Refused && result_.summary.sharedEvaluation) return wholeEvaluation(before);
    restoreNames();
    if (result_.status == RewriteStatus::Written && settle(result_.files, job_.place, base(), job_.lineDirectives)) result_.quoteFolder = base();
    return std::move(result_);
  }

 private:
  using Texts = std::map<std::string, std::string>;
  bool several() const { return !job_.further.empty(); }
  std::string base() const;
  RewriteResult wholeEvaluation(const DiagEngine& before);
  bool keepSizes(const DiagEngine& before);
  bool parse(Texts texts, ErrorKeeper& errors, Work work, bool includesOnly = false);
  bool parseFile(const std::string& file, Texts texts, ErrorKeeper& errors, Work work, bool includesOnly = false);
  bool parseForFacts(const Texts& texts, ErrorKeeper& errors, Work work);
  void separate();
  /// What a source says by itself.
  struct Source {
    SourceNames names;
    SourceRepeats repeats;
  };
  std::optional<std::vector<Source>> readOneByOne();
  Texts textsForReading() const;
  void restoreNames();
  void analyse();
  void chooseDialect(const IncludeList& includes);
  bool namesRuntime() const;
  void refuseMixture(std::vector<std::string> files);
  bool leaveDistributed();
  bool leaveDistributed(clang::ASTContext& ast, const IncludeList& includes);
  void keepFiles(clang::ASTContext& ast, const IncludeList& includes);
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
  RepeatedHeaders repeated_;
  PrivateNames names_;
  HiddenRepeats repeats_;
  bool apart_ = false;  // names have been looked at source by source
  bool mixed_ = false;  // they should be, before anything is made of this parse
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

/// A rule for larger batches that is not known must cost nobody the program, either: those of the program are shared out as they are.
bool Rewriter::keepSizes(const DiagEngine& before) {
  if (!options_.batchesGrow || options_.batchAsked || options_.lrScaling != LrScaling::Auto || options_.batch != BatchPolicy::PerRank) return false;
  const std::vector<Diagnostic> said = diags_.sorted();
  const auto refuses = [](const Diagnostic& d) { return d.severity == Severity::Refusal; };
  const auto aboutGrowth = [](const Diagnostic& d) {
    return llvm::is_contained({DiagID::UnresolvedOptimizer, DiagID::RateMixed, DiagID::RateScaledTwice, DiagID::BatchSizeInShape}, d.id);
  };
  const auto first = llvm::find_if(said, refuses);
  if (first == said.end() || !llvm::all_of(said, [&](const Diagnostic& d) { return !refuses(d) || aboutGrowth(d); })) return false;
  const DiagEngine refused = diags_;
  diags_ = before;
  RewriteOptions options = options_;
  options.batchesGrow = false;
  RewriteResult again = Rewriter(options, job_, dialects_, resourceDir_, diags_, stages_).run();
  if (again.status != RewriteStatus::Written) return diags_ = refused, false;
  diags_.add(DiagID::BatchOnlyGlobal, first->place, {first->message});
  result_ = std::move(again);
  return true;
}

/// Only the author's declarations are traversed: a framework's headers hold hundreds of thousands of nodes. What is precompiled by
/// hvdize is not the author's and stays where it is; other precompiled headers may be.
void scopeToAuthor(clang::ASTContext& ast, const std::string& frameworkFolder, bool precompiled) {
  const AuthorFiles files(ast.getSourceManager(), frameworkFolder);
  std::vector<clang::Decl*> authors;
  const auto add = [&](clang::Decl* d) {
    if (files.contains(d->getLocation())) authors.push_back(d);
  };
  clang::TranslationUnitDecl* unit = ast.getTranslationUnitDecl();
  if (precompiled) llvm::for_each(unit->noload_decls(), add);
  else llvm::for_each(unit->decls(), add);
  ast.setTraversalScope(authors);
}

/// Files named in `texts` have those texts.
bool Rewriter::parseFile(const std::string& file, Texts texts, ErrorKeeper& errors, Work work, bool includesOnly) {
  const ParseInput input{job_.directory, job_.flags, resourceDir_, std::move(texts)};
  for (const Dialect* d : dialects_) d->forget();
  Parser parser(dialects_, several() ? &repeated_ : nullptr, options_.headerCache);
  const bool parsed = includesOnly ? parser.includesOnly(input, file, errors, std::move(work))
                      : skipBodies_ ? parser.withoutBodies(input, file, errors, std::move(work))
                                    : parser.everything(input, file, errors, std::move(work));
  result_.notes.insert(result_.notes.end(), parser.notes().begin(), parser.notes().end());
  return parsed;
}

/// Several sources are read one after another, as one translation unit.
bool Rewriter::parse(Texts texts, ErrorKeeper& errors, Work work, bool includesOnly) {
  if (!several()) return parseFile(job_.file, std::move(texts), errors, std::move(work), includesOnly);
  const std::string whole = "the whole program.cpp";
  diags_.setProgram(job_.file);
  std::string& text = texts[whole];
  for (const std::string& s : repeats_.ordered(job_.sources())) text += "#include \"" + s + "\"\n";
  return parseFile(whole, std::move(texts), errors, std::move(work), includesOnly);
}

/// What each source says by itself about names. Nothing, when one does not compile alone: the compiler's output is then about the first such.
std::optional<std::vector<Rewriter::Source>> Rewriter::readOneByOne() {
  std::vector<Source> all;
  CompileJob one = job_;
  one.further.clear();
  for (const std::string& s : job_.sources()) {
    result_.compilerOutput.clear();
    one.file = s;
    ErrorKeeper errors(result_.compilerOutput);
    Rewriter alone(options_, one, dialects_, resourceDir_, diags_, stages_);
    const bool compiles = alone.parseFile(s, {}, errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
      alone.chooseDialect(includes);
      const AuthorFiles files(ast.getSourceManager(), alone.frameworkFolder_);
      const auto authors = [&](clang::SourceLocation at) { return files.contains(at); };
      all.push_back({namesOf(ast, authors, s), repeatsOf(ast, authors, s)});
    });
    if (!compiles) return std::nullopt;
  }
  return all;
}

Rewriter::Texts Rewriter::textsForReading() const {
  Texts texts = names_.texts();
  texts.insert(repeats_.texts().begin(), repeats_.texts().end());
  return texts;
}

/// The sources do not compile together, or not as they do alone: names clash. When those are private to one source, they are read with
/// others. Else it is a refusal, or the first source that does not compile alone is to blame.
void Rewriter::separate() {
  const bool mixed = mixed_;
  DiagPlace clash = clash_;
  std::string message = clashMessage_;
  apart_ = true, mixed_ = false;
  const auto sources = readOneByOne();
  if (!sources && !mixed) return;
  bool separated = false;
  if (sources) {
    std::vector<SourceNames> names;
    std::vector<SourceRepeats> repeats;
    for (const Source& s : *sources) names.push_back(s.names), repeats.push_back(s.repeats);
    separated = names_.separate(names);
    separated = repeats_.hide(repeats) || separated;
  }
  const bool again = names_.stuck().empty() && (separated || mixed);
  if (again) analyse();
  if (again && result_.status != RewriteStatus::DoesNotCompile) return;
  if (mixed) clash = clash_, message = clashMessage_;
  if (!again && !names_.stuck().empty()) {
    clash = {};
    clash.file = job_.file;
    message = "'" + names_.stuck() + "' is private to a source, and another one declares it too";
  }
  names_.restore(message);
  diags_.add(DiagID::UnitsClash, std::move(clash), {message});
  result_.compilerOutput.clear();
  result_.status = RewriteStatus::Refused;
}

/// Only the reading was done with other names.
void Rewriter::restoreNames() {
  const auto restore = [&](std::string& text) { names_.restore(text), repeats_.restore(text); };
  for (FileResult& f : result_.files) {
    restore(f.input), restore(f.output);
    for (Edit& e : f.edits) restore(e.before), restore(e.after), restore(e.why.text);
  }
  diags_.changeTexts(restore);
  restore(result_.summary.batchSize), restore(result_.compilerOutput);
}

// A template of the author's may be instantiated by a body of the framework that was skipped: its facts would be missing without a
// word. Where one stays uninstantiated, everything is parsed.
bool Rewriter::parseForFacts(const Texts& texts, ErrorKeeper& errors, Work work) {
  bool incomplete = false;
  const bool parsed = parse(texts, errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
    chooseDialect(includes);
    scopeToAuthor(ast, frameworkFolder_, !includes.precompiled.empty());
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

/// A hint: it may be in a comment, and a header of the author's may include it.
bool Rewriter::namesRuntime() const {
  return llvm::any_of(job_.sources(), [&](const std::string& s) {
    llvm::SmallString<256> path(s);
    llvm::sys::fs::make_absolute(job_.directory, path);
    const auto text = llvm::MemoryBuffer::getFile(path);
    return text && llvm::any_of(dialects_, [&](const Dialect* d) { return (*text)->getBuffer().contains("<" + d->runtimeHeader().str() + ">"); });
  });
}

/// What is distributed already needs no parsing: its includes tell.
bool Rewriter::leaveDistributed() {
  if (!namesRuntime()) return false;
  bool left = false;
  std::string unheard;
  ErrorKeeper silent(unheard);
  parse(textsForReading(), silent, [&](clang::ASTContext& ast, const IncludeList& includes) {
    chooseDialect(includes);
    result_.userFiles = includes.userFiles;
    left = leaveDistributed(ast, includes);
  }, true);
  if (left) refuseMixture(result_.userFiles);
  return left;
}

/// A source that was put back to what it was, beside others that are distributed: every rank would train with its own gradients there.
void Rewriter::refuseMixture(std::vector<std::string> files) {
  const auto sources = job_.sources();
  files.insert(files.end(), sources.begin(), sources.end());
  const auto plain = filesLeftOut(files, job_.directory);
  std::string unheard;
  ErrorKeeper silent(unheard);
  if (plain.empty()) return;
  parseForFacts(textsForReading(), silent, [&](clang::ASTContext& ast, const IncludeList&) {
    const clang::Expr* trains = backwardIn(plain, job_.directory, ast, AuthorFiles(ast.getSourceManager(), frameworkFolder_), *dialect_);
    if (!trains) return;
    diags_.setSource(ast.getSourceManager(), ast.getLangOpts());
    diags_.report(DiagID::PartDistributed, trains->getSourceRange(), dialect_->runtimeHeader().str());
    result_.status = RewriteStatus::Refused;
    result_.files.clear();
  });
}

bool Rewriter::leaveDistributed(clang::ASTContext& ast, const IncludeList& includes) {
  const std::string runtime = dialect_->runtimeHeader().str();
  if (!includes.includes(runtime)) return false;
  keepFiles(ast, includes);
  diags_.reportFile(DiagID::AlreadyDistributed, job_.file, runtime);
  result_.status = RewriteStatus::Unchanged;
  return true;
}

void Rewriter::keepFiles(clang::ASTContext& ast, const IncludeList& includes) {
  const EditSet none(ast, includes, [](clang::SourceLocation) { return false; }, diags_);
  result_.files = collectFiles(ast.getSourceManager(), none, includes, job_.sources());
}

void Rewriter::analyse() {
  result_.compilerOutput.clear();
  if (leaveDistributed()) return;
  ErrorKeeper errors(result_.compilerOutput);
  const bool parsed = parseForFacts(textsForReading(), errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
    clang::SourceManager& sm = ast.getSourceManager();
    const AuthorFiles files(sm, frameworkFolder_);
    const auto authors = [&](clang::SourceLocation at) { return files.contains(at); };
    mixed_ = several() && !apart_ && mayMixNames(ast, authors, job_.sources());
    if (mixed_) return;
    diags_.setSource(sm, ast.getLangOpts());
    result_.userFiles = includes.userFiles;
    if (const clang::DeclRefExpr* e = several() ? answeredElsewhere(ast, authors, job_.sources(), repeats_.functions()) : nullptr) {
      diags_.report(DiagID::UnitsClash, e->getSourceRange(), "'" + e->getDecl()->getNameAsString() + "' means a function of another source here, which this one does not declare");
      result_.status = RewriteStatus::Refused;
      return;
    }
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
  if (leaveDistributed(ast, includes)) return;
  keepFiles(ast, includes);
  const std::string runtime = dialect_->runtimeHeader().str();
  if (frameworkFolder_.empty()) {
    diags_.reportFile(DiagID::NotThisDialect, job_.file, dialect_->title(), dialect_->reveals().front());
    return unchanged();
  }
  const AuthorFiles author(ast.getSourceManager(), frameworkFolder_);
  EditSet edits(ast, includes, [&](clang::SourceLocation at) { return author.contains(at); }, diags_);
  if (job_.lineDirectives && !several()) result_.summary.defined = definedNames(ast);
  PassContext context{ast, *dialect_, diags_, options_, edits, result_.summary, frameworkFolder_};
  stages_.passes(context);
  if (diags_.hasRefusals()) {
    result_.status = RewriteStatus::Refused;
    result_.files.clear();
    return;
  }
  if (edits.empty()) {
    if (!options_.printModel && !result_.summary.trainer) diags_.reportFile(DiagID::NoTrainer, job_.file);
    return unchanged();
  }
  edits.addInclude(runtime, dialect_->reveals().front(), {DiagID::HeaderIncluded, "the inserted calls are declared there"});
  result_.files = collectFiles(ast.getSourceManager(), edits, includes, job_.sources());
  if (!job_.standard.empty()) diags_.reportFile(DiagID::StandardRaised, job_.file, job_.standard);
  result_.status = RewriteStatus::Written;
}

void Rewriter::checkOutput() {
  std::string printed;
  ErrorKeeper errors(printed);
  Texts texts = textsForReading();
  for (const FileResult& f : result_.files)
    if (f.output != f.input) texts[f.path] = f.output, maps_[plainPath(f.path)] = f.map;
  const bool parsed = parse(std::move(texts), errors, [&](clang::ASTContext& ast, const IncludeList& includes) {
    diags_.setSource(ast.getSourceManager(), ast.getLangOpts(), &maps_);
    scopeToAuthor(ast, frameworkFolder_, !includes.precompiled.empty());
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
