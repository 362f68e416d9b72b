// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/prefix.h"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "rewriters/dialects/dialect.h"
#include "rewriters/parse/header_record.h"

namespace hvdize {
namespace {

const std::string kVersion = HVDIZE_VERSION;
const char* const kIncludes = "a compiler flag includes a file";

/// `<vector>`, `<cmath>`, `<math.h>`: these may be included in any order, says the standard of the language.
bool isStandardHeader(llvm::StringRef name) {
  static constexpr llvm::StringLiteral kOfC[] = {"assert", "complex", "ctype",  "errno",  "fenv",   "float",   "inttypes", "iso646",
                                                 "limits", "locale",  "math",   "setjmp", "signal", "stdalign", "stdarg",   "stdatomic",
                                                 "stdbool", "stddef", "stdint", "stdio",  "stdlib", "string",  "tgmath",   "time",
                                                 "uchar",  "wchar",   "wctype"};
  if (name.contains('/')) return false;
  return name.consume_back(".h") ? llvm::is_contained(kOfC, name) : !name.contains('.');
}

/// Options that precompiled headers cannot follow, or that put something in front of the source.
const char* unsuitableOption(const clang::CompilerInstance& compiler) {
  const clang::LangOptions& lang = compiler.getLangOpts();
  const clang::PreprocessorOptions& pp = compiler.getPreprocessorOpts();
  if (!lang.CPlusPlus || lang.CUDA || lang.ObjC || lang.OpenCL) return "the language is not plain C++";
  if (!pp.Includes.empty() || !pp.MacroIncludes.empty() || !pp.ImplicitPCHInclude.empty() || !pp.PCHThroughHeader.empty())
    return kIncludes;
  const clang::HeaderSearchOptions& search = compiler.getHeaderSearchOpts();
  if (search.ImplicitModuleMaps || !search.PrebuiltModuleFiles.empty() || !compiler.getFrontendOpts().ModuleFiles.empty()) return "a compiler flag turns on modules";
  if (!search.VFSOverlayFiles.empty()) return "a compiler flag replaces files";
  return nullptr;
}

/// -I and -iquote. These folders are searched first.
bool isUsers(const clang::HeaderSearchOptions::Entry& entry) {
  return entry.Group == clang::frontend::Quoted || entry.Group == clang::frontend::Angled;
}

std::string absolute(llvm::StringRef folder, const std::string& directory) {
  llvm::SmallString<256> p(folder);
  directory.empty() ? (void)llvm::sys::fs::make_absolute(p) : llvm::sys::fs::make_absolute(directory, p);
  llvm::sys::path::remove_dots(p);
  return p.str().str();
}

std::vector<std::string> userFolders(const clang::HeaderSearchOptions& search, const std::string& directory) {
  std::vector<std::string> folders;
  for (auto group : {clang::frontend::Quoted, clang::frontend::Angled})
    for (const auto& entry : search.UserEntries)
      if (entry.Group == group) folders.push_back(absolute(entry.Path, directory));
  return folders;
}

/// Of everything in the command that decides how headers are read, without the user's folders: of these, what lies in them decides.
std::string hashOfOptions(const clang::CompilerInvocation& options, const std::string& directory) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << options.getModuleHash();
  const clang::HeaderSearchOptions& search = options.getHeaderSearchOpts();
  for (const auto& entry : search.UserEntries)
    if (!isUsers(entry)) os << "\n" << int(entry.Group) << entry.IsFramework << entry.IgnoreSysRoot << absolute(entry.Path, directory);
  for (const auto& prefix : search.SystemHeaderPrefixes) os << "\n" << prefix.IsSystemHeader << prefix.Prefix;
  return text;
}

class Collector : public clang::PPCallbacks {
 public:
  Collector(clang::Preprocessor& pp, llvm::ArrayRef<const Dialect*> dialects, Prefix& prefix) : pp_(pp), dialects_(dialects), prefix_(prefix) {}

  bool done() const { return done_; }

  void token(const clang::Token& t) {
    const clang::IdentifierInfo* name = t.getIdentifierInfo();
    if (author_ && name && !lastIsMember_) prefix_.used.insert(name->getName());
    if (author_ && t.is(clang::tok::kw_namespace) && lastIsUsing_) prefix_.unsuitable = "a using directive stands in front of the framework's header";
    lastIsUsing_ = t.is(clang::tok::kw_using);
    lastIsMember_ = t.isOneOf(clang::tok::period, clang::tok::arrow);
  }

  void FileChanged(clang::SourceLocation loc, FileChangeReason reason, clang::SrcMgr::CharacteristicKind kind, clang::FileID) override {
    if (reason != EnterFile && reason != ExitFile) return;
    const clang::SourceManager& sm = pp_.getSourceManager();
    // The predefined macros and those of the command are in no file.
    author_ = !clang::SrcMgr::isSystem(kind) && sm.getFileEntryForID(sm.getFileID(loc));
  }

  void InclusionDirective(clang::SourceLocation, const clang::Token&, llvm::StringRef name, bool angled, clang::CharSourceRange,
                          clang::OptionalFileEntryRef file, llvm::StringRef, llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind kind) override {
    if (done_ || !file) return;
    const std::string path = file->getFileEntry().tryGetRealPathName().str();
    const bool reveals = llvm::any_of(dialects_, [&](const Dialect* d) { return llvm::is_contained(d->reveals(), name.str()); });
    if (author_) {
      last_ = {name.str(), path};
      const bool system = clang::SrcMgr::isSystem(kind) && !(angled && isStandardHeader(name));
      if (system && !reveals && !llvm::is_contained(prefix_.headers, last_)) prefix_.headers.push_back(last_);
    }
    if (!reveals) return;
    done_ = true;
    if (!llvm::is_contained(prefix_.headers, last_)) prefix_.headers.push_back(last_);
  }

  void MacroDefined(const clang::Token& name, const clang::MacroDirective*) override { define(name); }
  void MacroUndefined(const clang::Token& name, const clang::MacroDefinition&, const clang::MacroDirective*) override { define(name); }

  void Ifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& m) override { test(name, m); }
  void Ifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& m) override { test(name, m); }
  void Elifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& m) override { test(name, m); }
  void Elifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& m) override { test(name, m); }
  void Defined(const clang::Token& name, const clang::MacroDefinition& m, clang::SourceRange) override { test(name, m); }
  void If(clang::SourceLocation keyword, clang::SourceRange, ConditionValueKind) override { namesIn(keyword); }
  void Elif(clang::SourceLocation keyword, clang::SourceRange, ConditionValueKind, clang::SourceLocation) override { namesIn(keyword); }

  void PragmaDirective(clang::SourceLocation loc, clang::PragmaIntroducerKind) override {
    if (!author_ || done_) return;
    const llvm::StringRef text = lineAt(loc).ltrim("# \t").drop_front(strlen("pragma")).trim();
    for (llvm::StringRef harmless : {"once", "GCC diagnostic", "clang diagnostic", "warning", "message", "region", "endregion", "mark"})
      if (text.starts_with(harmless)) return;
    prefix_.unsuitable = "a #pragma stands in front of the framework's header";
  }

 private:
  void define(const clang::Token& name) {
    if (author_ && !done_) prefix_.defined.insert(name.getIdentifierInfo()->getName());
  }
  void test(const clang::Token& name, const clang::MacroDefinition& macro) {
    if (author_ && !done_ && !macro && name.getIdentifierInfo()) prefix_.used.insert(name.getIdentifierInfo()->getName());
  }
  /// `#if X`, where X is no macro. (With __has_include the condition has no place of its own.)
  void namesIn(clang::SourceLocation keyword) {
    if (!author_ || done_) return;
    const std::string line = lineAt(keyword).drop_while(llvm::isAlpha).str();  // the lexer wants a zero behind it
    clang::Lexer lexer(keyword, pp_.getLangOpts(), line.data(), line.data(), line.data() + line.size());
    clang::Token t;
    for (bool last = false; !last;) {
      last = lexer.LexFromRawLexer(t);
      if (t.is(clang::tok::raw_identifier) && !pp_.isMacroDefined(t.getRawIdentifier())) prefix_.used.insert(t.getRawIdentifier());
    }
  }
  /// From there to the end of the file, as far as a directive can go.
  llvm::StringRef lineAt(clang::SourceLocation loc) const {
    const clang::SourceManager& sm = pp_.getSourceManager();
    const auto [file, offset] = sm.getDecomposedExpansionLoc(loc);
    const llvm::StringRef text = sm.getBufferData(file).drop_front(offset);
    size_t end = text.find('\n');
    while (end != llvm::StringRef::npos && text.take_front(end).rtrim("\r").ends_with("\\")) end = text.find('\n', end + 1);
    return text.take_front(end);
  }

  clang::Preprocessor& pp_;
  llvm::ArrayRef<const Dialect*> dialects_;
  Prefix& prefix_;
  std::pair<std::string, std::string> last_;  ///< what an author's file included last
  bool author_ = false, done_ = false, lastIsUsing_ = false, lastIsMember_ = false;
};

class ScanAction : public clang::PreprocessorFrontendAction {
 public:
  ScanAction(Prefix& prefix, llvm::ArrayRef<const Dialect*> dialects, const std::string& directory)
      : prefix_(prefix), dialects_(dialects), directory_(directory) {}

 protected:
  void ExecuteAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    clang::Preprocessor& pp = compiler.getPreprocessor();
    if (const char* why = unsuitableOption(compiler)) {
      prefix_.unsuitable = why;
      return;
    }
    auto owned = std::make_unique<Collector>(pp, dialects_, prefix_);
    Collector& collector = *owned;
    pp.addPPCallbacks(std::move(owned));
    pp.IgnorePragmas();
    pp.EnterMainSourceFile();
    clang::Token t;
    do {
      pp.Lex(t);
      if (!collector.done()) collector.token(t);
    } while (!collector.done() && t.isNot(clang::tok::eof));
    if (!collector.done()) prefix_.unsuitable = "no header of a framework is included";
    prefix_.folders = userFolders(compiler.getHeaderSearchOpts(), directory_);
    prefix_.key = checksumOf(kVersion + hashOfOptions(compiler.getInvocation(), directory_) + tables() + headers());
  }

 private:
  /// What decides which bodies are skipped.
  std::string tables() const {
    std::string text;
    for (const Dialect* d : dialects_) {
      text += "\n" + d->layout().str();
      for (const std::string& word : d->reveals()) text += "\n" + word;
      for (const std::string& word : d->folders()) text += "\n" + word;
    }
    return text;
  }
  std::string headers() const {
    std::string text;
    for (const auto& [name, path] : prefix_.headers) text += "\n" + name + "\n" + path;
    return text;
  }

  Prefix& prefix_;
  llvm::ArrayRef<const Dialect*> dialects_;
  const std::string& directory_;
};

/// The first name, by the alphabet, that is in both; empty when there is none.
std::string common(const llvm::StringSet<>& few, const llvm::StringSet<>& many) {
  std::string first;
  for (const auto& n : few)
    if (many.contains(n.getKey()) && (first.empty() || n.getKey() < first)) first = n.getKey().str();
  return first;
}

}  // namespace

std::string Prefix::text() const {
  std::string out;
  for (const auto& [name, path] : headers) out += "#include <" + name + ">\n";
  return out;
}

std::string Prefix::conflictWith(const HeaderRecord& record) const {
  for (const auto& [name, path] : headers)
    if (const auto found = record.includes.find(name); found == record.includes.end() || found->second != path) return "<" + name + "> is another file here";
  if (const std::string n = record.foundElsewhere(folders); !n.empty()) return "<" + n + "> is another file here";
  if (const std::string n = common(defined, record.identifiers); !n.empty()) return "'" + n + "' is defined in front of the headers, and they mention it";
  if (const std::string n = common(used, record.macros); !n.empty()) return "'" + n + "' is used in front of the headers, and they define it";
  if (const std::string n = common(used, record.globals); !n.empty()) return "'" + n + "' is used in front of the headers, and they declare it";
  return "";
}

Prefix scanPrefix(const ParseInput& input, const std::string& file, llvm::ArrayRef<const Dialect*> dialects) {
  Prefix prefix;
  if (llvm::any_of(input.flags, [](const std::string& f) { return llvm::StringRef(f).starts_with("-include"); })) prefix.unsuitable = kIncludes;
  if (!prefix.unsuitable.empty()) return prefix;  // the most frequent case, without a look at the file
  clang::DiagnosticConsumer silent;  // counts errors
  const bool ran = runAction(input, file, std::make_unique<ScanAction>(prefix, dialects, input.directory), silent);
  if (!ran && prefix.unsuitable.empty()) prefix.unsuitable = "it cannot be preprocessed";
  return prefix;
}

}  // namespace hvdize
