// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/loader_types.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallSet.h"

using namespace clang;

namespace hvdize {

namespace {

// The loader's class among those that `type` is made of: itself, or what a smart pointer holds.
const ClassTemplateSpecializationDecl* loaderClass(const Dialect& dialect, QualType type) {
  return dyn_cast_or_null<ClassTemplateSpecializationDecl>(dialect.is(type, Role::Loader) ? dialect.recordOf(type) : nullptr);
}

class LoaderTypeFinder : public RecursiveASTVisitor<LoaderTypeFinder> {
 public:
  LoaderTypeFinder(const Model& m, llvm::ArrayRef<const Expr*> loaders) : dialect_(m.context.dialect), files_(m.files) {
    for (const Expr* l : loaders) {
      const auto* made = loaderClass(dialect_, l->getType());
      if (!made) continue;
      sharded_.insert(made->getCanonicalDecl());
      const TemplateArgumentList& arguments = made->getTemplateArgs();
      for (unsigned i = 0; i < arguments.size(); ++i)
        if (arguments[i].getKind() == TemplateArgument::Type && dialect_.is(arguments[i].getAsType(), Role::Sampler)) positions_.insert({made->getSpecializedTemplate()->getCanonicalDecl(), i});
    }
    const auto look = [&](const Expr* loader) {
      for (const Expr* o : m.definitions.origins(loader)) othersExist_ = othersExist_ || !llvm::is_contained(loaders, o);
    };
    for (const LoaderLoop& l : m.batches.loaderLoops()) look(l.loader);
    for (const HandIterator& i : m.batches.handIterators()) look(i.loader);
  }

  bool VisitTemplateSpecializationTypeLoc(TemplateSpecializationTypeLoc l) {
    const auto* pattern = dyn_cast_or_null<ClassTemplateDecl>(l.getTypePtr()->getTemplateName().getAsTemplateDecl());
    if (!pattern || !files_.contains(l.getBeginLoc()) || !isMeant(l.getTypePtr())) return true;
    for (const auto& [known, position] : positions_)
      if (known == pattern->getCanonicalDecl() && position < l.getNumArgs()) add(l.getArgLoc(position).getSourceRange());
    return true;
  }

  llvm::SmallVector<SourceRange, 4> found;

 private:
  bool isMeant(const TemplateSpecializationType* type) const {
    if (type->isDependentType()) return !othersExist_;
    const auto* named = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    return named && sharded_.count(named->getCanonicalDecl());
  }

  void add(SourceRange range) {
    if (range.isValid() && !llvm::is_contained(found, range)) found.push_back(range);
  }

  const Dialect& dialect_;
  const AuthorFiles& files_;
  llvm::DenseSet<const Decl*> sharded_;
  llvm::SmallSet<std::pair<const Decl*, unsigned>, 2> positions_;
  bool othersExist_ = false;
};

}  // namespace

llvm::SmallVector<SourceRange, 4> spelledSamplers(const Model& m, llvm::ArrayRef<const Expr*> loaders) {
  LoaderTypeFinder finder(m, loaders);
  finder.TraverseDecl(m.context.ast.getTranslationUnitDecl());
  return finder.found;
}

}  // namespace hvdize
