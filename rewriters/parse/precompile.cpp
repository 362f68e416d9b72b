// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/precompile.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/CharInfo.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Serialization/ASTWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include "rewriters/dialects/dialect.h"
#include "rewriters/parse/prefix.h"
#include "rewriters/source/framework_bodies.h"
#include "rewriters/source/includes.h"

namespace hvdize {

const char* const kPrecompiledText = "/hvdize/precompiled.hpp";

namespace {

/// Fills the record when the headers have been read, before they are written.
class Recorder : public clang::ASTConsumer {
 public:
  Recorder(clang::CompilerInstance& compiler, llvm::ArrayRef<const Dialect*> dialects, const IncludeList& includes, HeaderRecord& record)
      : compiler_(compiler), includes_(includes), record_(record), bodies_(compiler.getSourceManager(), dialects, includes) {}

  bool shouldSkipFunctionBody(clang::Decl* d) override { return bodies_.contains(d); }

  void HandleTranslationUnit(clang::ASTContext& ast) override {
    record_.includes = includes_.all;
    record_.userFiles = includes_.userFiles;
    std::erase(record_.userFiles, kPrecompiledText);
    addFiles(ast.getSourceManager());
    const clang::Preprocessor& pp = compiler_.getPreprocessor();
    for (const auto& name : pp.getIdentifierTable())  // selectors of pragmas are there too
      if (clang::isValidAsciiIdentifier(name.getKey())) record_.identifiers.insert(name.getKey());
    for (const auto& [name, state] : pp.macros())
      if (const clang::MacroInfo* m = pp.getMacroInfo(name); m && inFile(ast.getSourceManager(), m->getDefinitionLoc())) record_.macros.insert(name->getName());
    addGlobals(ast.getTranslationUnitDecl());
  }

 private:
  static bool inFile(const clang::SourceManager& sm, clang::SourceLocation at) { return at.isValid() && sm.getFileEntryForID(sm.getFileID(at)); }

  void addFiles(const clang::SourceManager& sm) {
    for (auto it = sm.fileinfo_begin(); it != sm.fileinfo_end(); ++it) {
      const std::string path = it->first.getFileEntry().tryGetRealPathName().str();
      if (path.empty() || path == kPrecompiledText) continue;
      if (const auto state = FileState::of(path)) record_.files.push_back(*state);
    }
    llvm::sort(record_.files, [](const FileState& a, const FileState& b) { return a.path < b.path; });
  }

  void addGlobals(const clang::DeclContext* scope) {
    for (const clang::Decl* d : scope->decls()) {
      if (const auto* block = llvm::dyn_cast<clang::LinkageSpecDecl>(d)) addGlobals(block);
      const auto* named = llvm::dyn_cast<clang::NamedDecl>(d);
      if (!named || !named->getIdentifier() || !bodies_.contains(d)) continue;
      if (named->getName() != "std") record_.globals.insert(named->getName());
      if (const auto* e = llvm::dyn_cast<clang::EnumDecl>(d); e && !e->isScoped())
        for (const clang::EnumConstantDecl* c : e->enumerators()) record_.globals.insert(c->getName());
    }
  }

  clang::CompilerInstance& compiler_;
  const IncludeList& includes_;
  HeaderRecord& record_;
  FrameworkBodies bodies_;
};

/// Notes which headers were looked for in the folders of the command, not beside the file that includes them.
class SearchCollector : public clang::PPCallbacks {
 public:
  SearchCollector(const clang::SourceManager& sm, HeaderRecord& record) : sm_(sm), record_(record) {}

  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef name, bool angled, clang::CharSourceRange,
                          clang::OptionalFileEntryRef file, llvm::StringRef folder, llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (!file || llvm::sys::path::is_absolute(name)) return;
    const auto in = sm_.getFileEntryRefForID(sm_.getFileID(hash));
    if (angled || !in || in->getDir().getName() != folder) record_.searched[name.str()] = file->getFileEntry().tryGetRealPathName().str();
  }

 private:
  const clang::SourceManager& sm_;
  HeaderRecord& record_;
};

/// The folders in which headers were found.
std::vector<std::string> usedFolders(const std::vector<std::string>& folders, const HeaderRecord& record) {
  std::vector<std::string> used;
  for (const std::string& folder : folders)
    if (llvm::any_of(record.searched, [&](const auto& s) { return s.second == folder + "/" + s.first; })) used.push_back(folder);
  return used;
}

class PrecompileAction : public clang::GeneratePCHAction {
 public:
  PrecompileAction(llvm::ArrayRef<const Dialect*> dialects, std::shared_ptr<clang::PCHBuffer> buffer, HeaderRecord& record)
      : dialects_(dialects), buffer_(std::move(buffer)), record_(record) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(collectIncludes(compiler.getSourceManager(), includes_));
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<SearchCollector>(compiler.getSourceManager(), record_));
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<Recorder>(compiler, dialects_, includes_, record_));
    consumers.push_back(std::make_unique<clang::PCHGenerator>(compiler.getPreprocessor(), compiler.getModuleCache(), "", "", buffer_,
                                                              compiler.getFrontendOpts().ModuleFileExtensions));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

 private:
  llvm::ArrayRef<const Dialect*> dialects_;
  std::shared_ptr<clang::PCHBuffer> buffer_;
  HeaderRecord& record_;
  IncludeList includes_;
};

}  // namespace

std::optional<Precompiled> precompile(const ParseInput& input, const Prefix& prefix, llvm::ArrayRef<const Dialect*> dialects) {
  const std::string text = prefix.text();
  Precompiled result;
  ParseInput headers = input;
  headers.texts.clear();
  headers.buffers = {llvm::MemoryBufferRef(text, kPrecompiledText)};
  // What the headers instantiate is instantiated here once, not at the end of each program.
  headers.flags.insert(headers.flags.end(), {"-x", "c++-header", "-fpch-instantiate-templates"});
  const auto buffer = std::make_shared<clang::PCHBuffer>();
  clang::DiagnosticConsumer silent;  // counts errors
  const bool ran = runAction(headers, kPrecompiledText, std::make_unique<PrecompileAction>(dialects, buffer, result.record), silent);
  if (!ran || !buffer->IsComplete) return std::nullopt;
  result.bytes = std::move(buffer->Data);
  const llvm::StringRef bytes(result.bytes.data(), result.bytes.size());
  result.record.checksum = checksumOf(bytes);
  result.record.size = bytes.size();
  result.record.folders = usedFolders(prefix.folders, result.record);
  return result;
}

}  // namespace hvdize
