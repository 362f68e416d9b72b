// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/parser.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Preprocessor.h>

#include "rewriters/dialects/dialect.h"
#include "rewriters/parse/header_cache.h"
#include "rewriters/parse/prefix.h"
#include "rewriters/source/framework_bodies.h"
#include "rewriters/source/includes.h"
#include "rewriters/source/repeated_headers.h"

namespace hvdize {
namespace {

/// Parses, notes the includes, and calls `work` when there were no errors.
class ParseAction : public clang::ASTFrontendAction {
 public:
  /// Bodies of the frameworks of `dialects` are skipped; none: everything is parsed. `known`: includes that are not seen, because
  /// the headers are precompiled. `includesOnly`: nothing is parsed, the includes are noted.
  ParseAction(const Parser::Work& work, llvm::ArrayRef<const Dialect*> dialects, RepeatedHeaders* several, IncludeList known, bool includesOnly)
      : work_(work), dialects_(dialects), several_(several), includes_(std::move(known)), includesOnly_(includesOnly) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    clang::Preprocessor& pp = compiler.getPreprocessor();
    pp.addPPCallbacks(collectIncludes(compiler.getSourceManager(), includes_, several_));
    if (several_) pp.addPPCallbacks(several_->watch(pp));
    compiler.getFrontendOpts().SkipFunctionBodies = !dialects_.empty();
    return std::make_unique<Consumer>(*this, compiler);
  }

  void ExecuteAction() override {
    if (!includesOnly_) return ASTFrontendAction::ExecuteAction();
    clang::CompilerInstance& compiler = getCompilerInstance();
    clang::Preprocessor& pp = compiler.getPreprocessor();
    pp.IgnorePragmas();
    pp.EnterMainSourceFile();
    clang::Token token;
    do pp.Lex(token);
    while (token.isNot(clang::tok::eof));
    compiler.getASTConsumer().HandleTranslationUnit(compiler.getASTContext());
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

  const Parser::Work& work_;
  llvm::ArrayRef<const Dialect*> dialects_;
  RepeatedHeaders* several_;
  IncludeList includes_;
  const bool includesOnly_;
};

IncludeList knownIncludes(const Prefix& prefix, const HeaderRecord& record) {
  IncludeList list;
  list.all = record.includes;
  list.precompiledUserFiles = record.userFiles;
  for (const auto& header : prefix.headers) list.precompiled.push_back(header.second);
  return list;
}

}  // namespace

/// Again, as long as it is a header without a guard that stops it.
bool Parser::parse(const ParseInput& input, const std::string& file, llvm::ArrayRef<const Dialect*> dialects, const IncludeList& known, const Work& work,
                   ErrorKeeper& errors, bool includesOnly) const {
  while (!runAction(input, file, std::make_unique<ParseAction>(work, dialects, several_, known, includesOnly), errors)) {
    if (!several_ || !several_->learn(errors.files)) return false;
    errors.clear();
  }
  return true;
}

bool Parser::everything(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work) const {
  return parse(input, file, {}, {}, work, errors);
}

bool Parser::withoutBodies(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work) {
  if (!cacheFolder_.empty() && precompiled(input, file, work, false)) return true;
  return parse(input, file, dialects_, {}, work, errors);
}

bool Parser::includesOnly(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work) {
  if (!cacheFolder_.empty() && precompiled(input, file, work, true)) return true;
  return parse(input, file, {}, {}, work, errors, true);
}

// Whatever goes wrong on this way is no message: the ordinary parse follows, and says what there is to say.
bool Parser::precompiled(const ParseInput& input, const std::string& file, const Work& work, bool includesOnly) {
  const auto unused = [&](const std::string& why) { return notes_.push_back("headers are read as text: " + why), false; };
  const Prefix prefix = scanPrefix(input, file, dialects_);
  if (!prefix.unsuitable.empty()) return unused(prefix.unsuitable);
  const HeaderCache cache(cacheFolder_);
  std::optional<CachedHeaders> headers = cache.find(prefix.key);
  std::string why;
  const bool found = headers.has_value();
  if (!found && includesOnly) return false;  // preprocessing the headers' text is cheaper than to parse it
  if (!found) headers = cache.make(prefix.key, [&] { return precompile(input, prefix, dialects_); }, &why);
  if (!headers) return unused(why);
  if (!why.empty()) notes_.push_back("headers are not kept: " + why);
  if (why = prefix.conflictWith(headers->record); !why.empty()) return unused(why);

  const std::string text = prefix.text();
  ParseInput with = input;
  with.buffers = {llvm::MemoryBufferRef(text, kPrecompiledText), headers->bytes->getMemBufferRef()};
  with.flags.insert(with.flags.end(), {"-include-pch", headers->bytes->getBufferIdentifier().str()});
  std::string unheard;
  ErrorKeeper silent(unheard);
  if (!parse(with, file, dialects_, knownIncludes(prefix, headers->record), work, silent, includesOnly))
    return unused("there are errors with precompiled ones");
  notes_.push_back(std::string(found ? "precompiled headers used: " : "headers precompiled and used: ") + headers->bytes->getBufferIdentifier().str());
  return true;
}

}  // namespace hvdize
