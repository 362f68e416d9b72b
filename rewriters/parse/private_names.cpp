// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/private_names.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "rewriters/diagnostics/diagnostics.h"

namespace hvdize {
namespace {

using clang::NamedDecl;
using clang::SourceLocation;

std::string pathOf(const clang::SourceManager& sm, SourceLocation at) {
  const auto entry = sm.getFileEntryRefForID(sm.getFileID(sm.getExpansionLoc(at)));
  return entry ? entry->getFileEntry().tryGetRealPathName().str() : "";
}

std::string nameOf(const NamedDecl* d) { return d->getIdentifier() ? d->getName().str() : ""; }

bool atFileScope(const clang::Decl* d) { return d->getDeclContext()->getRedeclContext()->isFileContext(); }

/// Constructors, destructors and the name of a class within it go by the class.
const NamedDecl* namedAfter(const NamedDecl* d) {
  if (llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl>(d)) return llvm::cast<clang::CXXMethodDecl>(d)->getParent();
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(d);
  if (record && record->isInjectedClassName()) return llvm::cast<clang::CXXRecordDecl>(record->getDeclContext());
  if (const auto* guide = llvm::dyn_cast<clang::CXXDeductionGuideDecl>(d)) return guide->getDeducedTemplate();
  return d;
}

/// Of no concern to other translation units.
bool isPrivate(const NamedDecl* d) {
  if (!atFileScope(d)) return false;
  // The name of `typedef struct {} Name` is that of the class.
  if (const auto* t = llvm::dyn_cast<clang::TypedefNameDecl>(d)) return !t->getAnonDeclWithTypedefName();
  if (llvm::isa<clang::TypeAliasTemplateDecl>(d)) return true;
  if (const auto* e = llvm::dyn_cast<clang::EnumConstantDecl>(d); e && !llvm::cast<clang::EnumDecl>(e->getDeclContext())->getIdentifier()) return true;
  return llvm::isa<clang::FunctionDecl, clang::VarDecl, clang::TagDecl, clang::TemplateDecl, clang::EnumConstantDecl>(d) &&
         (d->getFormalLinkage() == clang::Linkage::Internal || d->isInAnonymousNamespace());
}

/// Calls `act` for what namespaces hold, themselves included.
template <typename Act>
void forEachAtFileScope(const clang::DeclContext* context, const IsAuthors& authors, bool top, const Act& act) {
  for (const clang::Decl* d : top ? context->noload_decls() : context->decls()) {
    if (top && !authors(d->getLocation())) continue;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(d)) forEachAtFileScope(llvm::cast<clang::DeclContext>(d), authors, false, act);
    if (const auto* e = llvm::dyn_cast<clang::EnumDecl>(d); e && !e->isScoped()) llvm::for_each(e->enumerators(), act);
    if (const auto* n = llvm::dyn_cast<NamedDecl>(d); n && !n->isImplicit() && n->getIdentifier()) act(n);
  }
}

/// What the names that a source writes stand for.
class NamesInSource : public clang::RecursiveASTVisitor<NamesInSource> {
 public:
  explicit NamesInSource(const clang::SourceManager& sm) : sm_(sm) {}

  enum Meaning : unsigned { Own = 1, Other = 2 };
  const std::map<unsigned, unsigned>& meanings() const { return meanings_; }
  bool isOwn(const NamedDecl* d) const {
    d = llvm::cast<NamedDecl>(namedAfter(d)->getCanonicalDecl());
    return isPrivate(d) && sm_.isInMainFile(sm_.getExpansionLoc(d->getLocation()));
  }

  bool VisitNamedDecl(NamedDecl* d) { return d->isImplicit() ? true : note(d->getLocation(), d); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) { return note(e->getLocation(), e->getDecl()); }
  bool VisitMemberExpr(clang::MemberExpr* e) { return note(e->getMemberLoc(), e->getMemberDecl()); }
  bool VisitOverloadExpr(clang::OverloadExpr* e) {
    for (const NamedDecl* d : e->decls()) note(e->getNameLoc(), d->getUnderlyingDecl());
    return true;
  }
  bool VisitCXXDependentScopeMemberExpr(clang::CXXDependentScopeMemberExpr* e) { return note(e->getMemberLoc(), Other); }
  bool VisitDependentScopeDeclRefExpr(clang::DependentScopeDeclRefExpr* e) { return note(e->getLocation(), Other); }
  bool VisitGotoStmt(clang::GotoStmt* s) { return note(s->getLabelLoc(), Other); }
  bool VisitDesignatedInitExpr(clang::DesignatedInitExpr* e) {
    for (const auto& d : e->designators())
      if (d.isFieldDesignator()) note(d.getFieldLoc(), Other);
    return true;
  }
  bool VisitUsingDecl(clang::UsingDecl* u) {
    for (const auto* s : u->shadows()) note(u->getLocation(), s->getTargetDecl());
    return true;
  }
  bool VisitTagTypeLoc(clang::TagTypeLoc t) { return note(t.getNameLoc(), t.getDecl()); }
  bool VisitInjectedClassNameTypeLoc(clang::InjectedClassNameTypeLoc t) { return note(t.getNameLoc(), t.getDecl()); }
  bool VisitTypedefTypeLoc(clang::TypedefTypeLoc t) { return note(t.getNameLoc(), t.getTypedefNameDecl()); }
  bool VisitUsingTypeLoc(clang::UsingTypeLoc t) { return note(t.getNameLoc(), t.getFoundDecl()->getTargetDecl()); }
  bool VisitTemplateSpecializationTypeLoc(clang::TemplateSpecializationTypeLoc t) { return note(t.getTemplateNameLoc(), t.getTypePtr()->getTemplateName()); }
  bool VisitDeducedTemplateSpecializationTypeLoc(clang::DeducedTemplateSpecializationTypeLoc t) {
    return note(t.getTemplateNameLoc(), t.getTypePtr()->getTemplateName());
  }
  bool VisitTemplateTypeParmTypeLoc(clang::TemplateTypeParmTypeLoc t) { return note(t.getNameLoc(), Other); }
  bool VisitDependentNameTypeLoc(clang::DependentNameTypeLoc t) { return note(t.getNameLoc(), Other); }

  bool TraverseConstructorInitializer(clang::CXXCtorInitializer* i) {
    if (i->isAnyMemberInitializer()) note(i->getMemberLocation(), Other);
    return RecursiveASTVisitor::TraverseConstructorInitializer(i);
  }
  bool TraverseNestedNameSpecifierLoc(clang::NestedNameSpecifierLoc n) {
    if (n && n.getNestedNameSpecifier()->getKind() != clang::NestedNameSpecifier::TypeSpec) note(n.getLocalBeginLoc(), Other);
    return RecursiveASTVisitor::TraverseNestedNameSpecifierLoc(n);
  }
  bool TraverseLambdaCapture(clang::LambdaExpr* e, const clang::LambdaCapture* c, clang::Expr* init) {
    if (c->isExplicit() && c->capturesVariable()) note(c->getLocation(), c->getCapturedVar());
    return RecursiveASTVisitor::TraverseLambdaCapture(e, c, init);
  }

 private:
  bool note(SourceLocation at, const NamedDecl* d) { return note(at, isOwn(d) ? Own : Other); }
  bool note(SourceLocation at, clang::TemplateName t) {
    const clang::TemplateDecl* d = t.getAsTemplateDecl();
    return d ? note(at, d) : note(at, Other);
  }
  bool note(SourceLocation at, Meaning meaning) {
    if (at.isInvalid()) return true;
    const auto [file, offset] = sm_.getDecomposedSpellingLoc(at);
    if (file == sm_.getMainFileID()) meanings_[offset] |= meaning;
    return true;
  }

  const clang::SourceManager& sm_;
  std::map<unsigned, unsigned> meanings_;
};

/// Every identifier of the text, but for those of directives that define nothing: `act(name, offset)`.
template <typename Act>
void forEachIdentifier(const std::string& text, const clang::LangOptions& lo, const Act& act) {
  clang::Lexer lexer(SourceLocation::getFromRawEncoding(1), lo, text.data(), text.data(), text.data() + text.size());
  clang::Token token;
  bool hash = false, skipped = false;
  while (!lexer.LexFromRawLexer(token)) {
    if (token.isAtStartOfLine()) hash = skipped = false;
    const unsigned end = static_cast<unsigned>(lexer.getBufferLocation() - text.data());
    if (token.is(clang::tok::hash) && token.isAtStartOfLine()) {
      hash = true;
    } else if (token.is(clang::tok::raw_identifier)) {
      if (hash) skipped = token.getRawIdentifier() != "define";
      else if (!skipped) act(token.getRawIdentifier().str(), end - token.getLength());
      hash = false;
    }
  }
}

}  // namespace

SourceNames namesOf(clang::ASTContext& ast, const IsAuthors& authors, const std::string& file) {
  const clang::SourceManager& sm = ast.getSourceManager();
  SourceNames names{file, sm.getBufferData(sm.getMainFileID()).str(), {}, {}};
  NamesInSource visitor(sm);
  std::set<std::string> priv;
  forEachAtFileScope(ast.getTranslationUnitDecl(), authors, true, [&](const NamedDecl* d) {
    names.declared[nameOf(d)].insert(pathOf(sm, d->getLocation()));
    if (visitor.isOwn(d)) priv.insert(nameOf(d));
  });
  for (clang::Decl* d : ast.getTranslationUnitDecl()->noload_decls())
    if (sm.isInMainFile(sm.getExpansionLoc(d->getLocation()))) visitor.TraverseDecl(d);
  std::set<std::string> mixed;
  forEachIdentifier(names.text, ast.getLangOpts(), [&](const std::string& name, unsigned offset) {
    if (!priv.count(name)) return;
    const auto meaning = visitor.meanings().find(offset);
    // What the tree does not speak of (the text of a macro, a destructor's name) goes with the rest: where that is wrong, it does not compile.
    if (meaning == visitor.meanings().end() || meaning->second == NamesInSource::Own) names.own[name].push_back(offset);
    else if (meaning->second != NamesInSource::Other) mixed.insert(name);
  });
  for (const std::string& name : mixed) names.own[name].clear();
  return names;
}

static std::set<std::string> pathsOf(clang::ASTContext& ast, const std::vector<std::string>& sources) {
  std::set<std::string> paths;
  for (const std::string& s : sources)
    if (const auto entry = ast.getSourceManager().getFileManager().getOptionalFileRef(s)) paths.insert(entry->getFileEntry().tryGetRealPathName().str());
  return paths;
}

bool mayMixNames(clang::ASTContext& ast, const IsAuthors& authors, const std::vector<std::string>& sources) {
  const clang::SourceManager& sm = ast.getSourceManager();
  const std::set<std::string> paths = pathsOf(ast, sources);
  std::map<std::string, std::set<std::string>> declared;
  std::set<std::string> priv;
  forEachAtFileScope(ast.getTranslationUnitDecl(), authors, true, [&](const NamedDecl* d) {
    const std::string path = pathOf(sm, d->getLocation());
    declared[nameOf(d)].insert(path);
    if (isPrivate(llvm::cast<NamedDecl>(d->getCanonicalDecl())) && paths.count(path)) priv.insert(nameOf(d));
  });
  return std::any_of(priv.begin(), priv.end(), [&](const std::string& name) { return declared[name].size() > 1; });
}

namespace {

class NamesAnsweredElsewhere : public clang::RecursiveASTVisitor<NamesAnsweredElsewhere> {
 public:
  NamesAnsweredElsewhere(const clang::SourceManager& sm, const std::set<std::string>& sources, const std::set<std::string>& hidden)
      : sm_(sm), sources_(sources), hidden_(hidden) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  const clang::DeclRefExpr* found() const { return found_; }

  bool VisitDeclRefExpr(const clang::DeclRefExpr* e) {
    const auto* f = llvm::dyn_cast<clang::FunctionDecl>(e->getDecl());
    if (const clang::FunctionDecl* pattern = f ? f->getTemplateInstantiationPattern() : nullptr) f = pattern;
    if (!f || !f->getDeclContext()->isFileContext() || f->isImplicit() || hidden_.count(f->getQualifiedNameAsString())) return true;
    const std::string here = pathOf(sm_, e->getLocation());
    if (!sources_.count(here)) return true;
    for (const clang::FunctionDecl* d : f->redecls())
      if (const std::string path = pathOf(sm_, d->getLocation()); path == here || !sources_.count(path)) return true;
    found_ = e;
    return false;
  }

 private:
  const clang::SourceManager& sm_;
  const std::set<std::string>&sources_, &hidden_;
  const clang::DeclRefExpr* found_ = nullptr;
};

}  // namespace

const clang::DeclRefExpr* answeredElsewhere(clang::ASTContext& ast, const IsAuthors& authors, const std::vector<std::string>& sources,
                                            const std::set<std::string>& hidden) {
  const std::set<std::string> paths = pathsOf(ast, sources);
  NamesAnsweredElsewhere visitor(ast.getSourceManager(), paths, hidden);
  for (clang::Decl* d : ast.getTranslationUnitDecl()->noload_decls())
    if (authors(d->getLocation()) && !visitor.TraverseDecl(d)) break;
  return visitor.found();
}

// For a name of one letter: another that stands alone nowhere in the sources, nor was given to one of them. Empty when there is none.
static std::string unusedLetter(const std::vector<SourceNames>& sources, const std::map<std::string, std::string>& given) {
  const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80; };
  for (const char c : std::string_view("$QZJqzjXYWVUHGKPOLMREDSTABCFNI")) {
    const std::string letter(1, c);
    if (given.count(letter)) continue;
    const bool used = std::any_of(sources.begin(), sources.end(), [&](const SourceNames& s) {
      for (size_t at = s.text.find(c); at != std::string::npos; at = s.text.find(c, at + 1))
        if ((at == 0 || !isPart(s.text[at - 1])) && (at + 1 == s.text.size() || !isPart(s.text[at + 1]))) return true;
      return false;
    });
    if (!used) return letter;
  }
  return {};
}

// Letters of two bytes that begin names and stand in no program's: Latin with marks, Cyrillic, Armenian. 0: no more.
static unsigned after(unsigned letter) {
  switch (++letter) {
    case 0x2B0: return 0x3F7;
    case 0x482: return 0x48A;
    case 0x530: return 0x561;
    case 0x588: return 0;
    default: return letter;
  }
}
static std::string letterOf(unsigned letter) {
  return letter ? std::string{static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))} : std::string();
}

bool PrivateNames::separate(const std::vector<SourceNames>& sources) {
  std::map<std::string, std::string> texts;
  unsigned letter = 0x100;
  for (const SourceNames& s : sources) {
    std::string text = s.text;
    std::map<std::string, std::string> letters;  // for the first two of a name: Set and SetImpl, Net and NetImpl stay apart, and pairs of one macro
    for (const auto& [name, places] : s.own) {
      const auto mine = s.declared.find(name);
      const bool elsewhere = std::any_of(sources.begin(), sources.end(), [&](const SourceNames& o) {
        const auto theirs = o.declared.find(name);
        return &o != &s && theirs != o.declared.end() && !std::includes(mine->second.begin(), mine->second.end(), theirs->second.begin(), theirs->second.end());
      });
      if (!elsewhere) continue;
      // The first letters change: names that macros paste together still fit.
      std::string other;
      if (name.size() < 2) {
        other = unusedLetter(sources, authors_);
      } else {
        std::string& first = letters[name.substr(0, 2)];
        if (first.empty()) first = letterOf(letter), letter = letter ? after(letter) : 0;
        if (!first.empty()) other = first + name.substr(2);
      }
      if (places.empty() || other.empty() || !authors_.emplace(other, name).second) {
        stuck_ = name;
        return false;
      }
      for (unsigned at : places) text.replace(at, other.size(), other);
    }
    if (text != s.text) texts[plainPath(s.file)] = std::move(text);
  }
  if (texts.empty() || texts == texts_) return false;
  texts_ = std::move(texts);
  return true;
}

void PrivateNames::restore(std::string& text) const {
  if (authors_.empty()) return;
  for (size_t at = 0; at < text.size();) {
    const std::pair<const std::string, std::string>* longest = nullptr;
    for (const auto& entry : authors_)
      if (text.compare(at, entry.first.size(), entry.first) == 0 && (!longest || entry.first.size() > longest->first.size())) longest = &entry;
    if (longest) text.replace(at, longest->first.size(), longest->second);
    at += longest ? longest->first.size() : 1;
  }
}

}  // namespace hvdize
