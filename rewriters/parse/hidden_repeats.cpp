// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/hidden_repeats.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

namespace hvdize {
namespace {

class Collector {
 public:
  Collector(clang::ASTContext& ast, const IsAuthors& authors, SourceRepeats& out) : ast_(ast), sm_(ast.getSourceManager()), authors_(authors), out_(out) {}

  void visit(const clang::DeclContext* context, bool top) {
    for (const clang::Decl* d : top ? context->noload_decls() : context->decls()) {
      if (top && !authors_(d->getLocation())) continue;
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(d)) visit(llvm::cast<clang::DeclContext>(d), false);
      else if (const auto* n = llvm::dyn_cast<clang::NamedDecl>(d); n && !n->isImplicit() && !n->getLocation().isMacroID()) look(n);
    }
  }

 private:
  void look(const clang::NamedDecl* d) {
    const clang::NamedDecl* what = d;
    if (const auto* t = llvm::dyn_cast<clang::TemplateDecl>(d)) what = t->getTemplatedDecl();
    if (const auto* r = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(what)) {
      if (!r->isThisDeclarationADefinition() || !r->getIdentifier() || llvm::isa<clang::ClassTemplateSpecializationDecl>(r)) return;
      const bool bodies = std::any_of(r->decls_begin(), r->decls_end(), [](const clang::Decl* m) {
        const auto* t = llvm::dyn_cast<clang::FunctionTemplateDecl>(m);
        const auto* f = t ? t->getTemplatedDecl() : llvm::dyn_cast<clang::FunctionDecl>(m);
        return f && !f->isImplicit() && !f->isDefaulted() && f->doesThisDeclarationHaveABody();
      });
      return add(d, r->getQualifiedNameAsString(), true, bodies);
    }
    const auto* f = llvm::dyn_cast_or_null<clang::FunctionDecl>(what);
    if (!f || llvm::isa<clang::CXXMethodDecl>(f) || !f->getIdentifier()) return;
    const bool defaults = std::any_of(f->param_begin(), f->param_end(), [](const clang::ParmVarDecl* p) { return p->hasDefaultArg() && !p->hasInheritedDefaultArg(); });
    if (defaults) add(d, f->getQualifiedNameAsString(), false, f->doesThisDeclarationHaveABody());
  }

  void add(const clang::NamedDecl* d, std::string name, bool isClass, bool bodies) {
    const clang::FileID file = sm_.getFileID(d->getLocation());
    const auto entry = sm_.getFileEntryRefForID(file);
    const auto [beginFile, begin] = sm_.getDecomposedLoc(d->getBeginLoc());
    const auto [endFile, end] = sm_.getDecomposedLoc(clang::Lexer::getLocForEndOfToken(d->getEndLoc(), 0, sm_, ast_.getLangOpts()));
    if (!entry || beginFile != file || endFile != file || end <= begin) return;
    const std::string path = entry->getFileEntry().tryGetRealPathName().str();
    out_.texts.try_emplace(path, sm_.getBufferData(file).str());
    out_.all.push_back({std::move(name), path, begin, end, isClass, bodies});
  }

  clang::ASTContext& ast_;
  const clang::SourceManager& sm_;
  const IsAuthors& authors_;
  SourceRepeats& out_;
};

}  // namespace

SourceRepeats repeatsOf(clang::ASTContext& ast, const IsAuthors& authors, const std::string& file) {
  const clang::SourceManager& sm = ast.getSourceManager();
  const auto entry = sm.getFileEntryRefForID(sm.getMainFileID());
  SourceRepeats out{file, entry ? entry->getFileEntry().tryGetRealPathName().str() : "", {}, {}};
  Collector(ast, authors, out).visit(ast.getTranslationUnitDecl(), true);
  return out;
}

/// A comment as long as `text`, with its lines, that no other text is like.
static std::string commentLike(const std::string& text, size_t number) {
  std::string comment = text;
  for (char& c : comment)
    if (c != '\n' && c != '\r') c = ' ';
  const std::string head = "/*\x01" + std::to_string(number) + "\x01";
  const size_t line = std::min(text.find('\n'), text.find('\r'));
  if (std::min(line, text.size()) < head.size() + 2 || text.size() < head.size() + 4) return {};
  comment.replace(0, head.size(), head);
  comment.replace(comment.size() - 2, 2, "*/");
  return comment;
}

bool HiddenRepeats::hide(const std::vector<SourceRepeats>& sources) {
  const size_t before = hidden_.size();
  for (const SourceRepeats& in : sources)
    for (const Repeatable& header : in.all) {
      const bool isHeader = std::none_of(sources.begin(), sources.end(), [&](const SourceRepeats& s) { return s.path == header.path; });
      if (!isHeader || header.hasBodies) continue;
      for (const SourceRepeats& s : sources) {
        const auto says = [&](const std::string& path) {
          return std::any_of(s.all.begin(), s.all.end(), [&](const Repeatable& r) { return r.path == path && r.name == header.name && r.isClass == header.isClass; });
        };
        if (says(header.path) || !says(s.path)) continue;
        const std::string& whole = in.texts.at(header.path);
        std::string& text = texts_.try_emplace(header.path, whole).first->second;
        const std::string authors = whole.substr(header.begin, header.end - header.begin);
        if (text.compare(header.begin, authors.size(), authors) != 0) continue;  // hidden already
        const std::string comment = commentLike(authors, hidden_.size());
        if (comment.empty()) continue;
        text.replace(header.begin, authors.size(), comment);
        hidden_.emplace(comment, authors);
        first_.insert(s.file);
        if (!header.isClass) functions_.insert(header.name);
      }
    }
  return hidden_.size() > before;
}

std::vector<std::string> HiddenRepeats::ordered(std::vector<std::string> sources) const {
  std::stable_partition(sources.begin(), sources.end(), [&](const std::string& s) { return first_.count(s) > 0; });
  return sources;
}

void HiddenRepeats::restore(std::string& text) const {
  for (const auto& [comment, authors] : hidden_)
    for (size_t at = text.find(comment); at != std::string::npos; at = text.find(comment, at + authors.size())) text.replace(at, comment.size(), authors);
}

}  // namespace hvdize
