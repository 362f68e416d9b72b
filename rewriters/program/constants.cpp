// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/constants.h"

#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace hvdize {

namespace {

class ConstantFinder : public RecursiveASTVisitor<ConstantFinder> {
 public:
  ConstantFinder(ConstantUses& found, const AuthorFiles& files) : found_(found), files_(files) {}

  bool VisitConstantArrayTypeLoc(ConstantArrayTypeLoc l) { return collect(l.getSizeExpr(), found_.fixed); }
  bool TraverseTemplateArgumentLoc(const TemplateArgumentLoc& a) {
    if (a.getArgument().getKind() == TemplateArgument::Expression) collect(a.getSourceExpression(), found_.fixed);
    return RecursiveASTVisitor::TraverseTemplateArgumentLoc(a);
  }
  bool VisitCaseStmt(CaseStmt* s) { return collect(s->getLHS(), found_.fixed), collect(s->getRHS(), found_.fixed); }
  bool VisitEnumConstantDecl(EnumConstantDecl* d) { return collect(d->getInitExpr(), found_.fixed); }
  bool VisitStaticAssertDecl(StaticAssertDecl* d) { return collect(d->getAssertExpr(), found_.asserted); }
  bool VisitVarDecl(VarDecl* d) {
    if (d->isConstexpr() && d->getInit()) collect(d->getInit(), found_.fixed);
    else if (d->getType().isConstQualified() && d->getType()->isIntegerType() && d->getInit()) derived_.push_back(d);
    return true;
  }

  /// `const int half = batch / 2; int rows[half];`
  void follow() {
    for (bool more = true; more;) {
      const size_t before = found_.fixed.size();
      for (const VarDecl* d : derived_)
        if (found_.fixed.count(d)) collect(d->getInit(), found_.fixed);
      more = found_.fixed.size() > before;
    }
  }

 private:
  bool collect(const Expr* e, llvm::DenseSet<const ValueDecl*>& into) {
    if (!e) return true;
    forEachExpr(e, [&](const Expr* x) {
      const auto* r = dyn_cast<DeclRefExpr>(x);
      if (r && files_.contains(r->getDecl()->getLocation())) into.insert(r->getDecl());
      if (isa<IntegerLiteral>(x) && x->getBeginLoc().isMacroID() && &into == &found_.fixed) found_.macros.insert(found_.sources.getSpellingLoc(x->getBeginLoc()));
    });
    return true;
  }

  ConstantUses& found_;
  const AuthorFiles& files_;
  std::vector<const VarDecl*> derived_;
};

}  // namespace

bool ConstantUses::isFixedMacro(const Expr* e) const {
  const SourceLocation at = strip(e)->getBeginLoc();
  return at.isMacroID() && macros.count(sources.getSpellingLoc(at));
}

ConstantUses::ConstantUses(ASTContext& context, const AuthorFiles& files) : sources(context.getSourceManager()) {
  ConstantFinder finder(*this, files);
  for (Decl* d : context.getTraversalScope()) finder.TraverseDecl(d);
  finder.follow();
}

std::string castInBraces(const Expr* element, ASTContext& context) {
  const auto* conversion = dyn_cast<ImplicitCastExpr>(element->IgnoreParens());
  if (!conversion || conversion->getCastKind() != CK_IntegralCast || element->isValueDependent()) return "";
  Expr::EvalResult r;
  const QualType from = strip(element)->getType(), to = conversion->getType();
  if (!from->isIntegerType() || to->isBooleanType() || !conversion->EvaluateAsInt(r, context)) return "";
  const auto width = [&](QualType t) { return context.getIntWidth(t); };
  const bool source = from->isUnsignedIntegerOrEnumerationType(), target = to->isUnsignedIntegerOrEnumerationType();
  const bool fits = source == target ? width(from) <= width(to) : source && width(from) < width(to);
  if (fits) return "";
  return !target && width(to) == 64 ? "int64_t" : to.getUnqualifiedType().getAsString(context.getPrintingPolicy());
}

static bool isOptional(const CXXRecordDecl* r) { return r && r->getDeclName().isIdentifier() && r->getName() == "optional"; }

// The whole number that a variable begins with, by itself or in an optional: `dim = 1`, `optional<int64_t> dim = {1}`.
static const Expr* numberWithin(const Expr* begins) {
  const Expr* e = strip(begins);
  const auto* list = dyn_cast<InitListExpr>(e);
  const auto* made = dyn_cast<CXXConstructExpr>(e);
  if (list && list->getNumInits() == 1) return numberWithin(list->getInit(0));
  return made && isOptional(made->getConstructor()->getParent()) && made->getNumArgs() == 1 ? numberWithin(made->getArg(0)) : e;
}

std::optional<int64_t> unchangedNumber(const Expr* e, ASTContext& context) {
  const auto* named = dyn_cast<DeclRefExpr>(strip(e));
  const auto* v = named ? dyn_cast<VarDecl>(named->getDecl()) : nullptr;
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !v->hasInit() || v->getInit()->isValueDependent()) return std::nullopt;
  if (!v->getType()->isIntegerType() && !isOptional(v->getType()->getAsCXXRecordDecl())) return std::nullopt;
  Expr::EvalResult r;
  const auto* home = dyn_cast<FunctionDecl>(v->getDeclContext());
  const Expr* number = numberWithin(v->getInit());
  if (!home || !home->hasBody() || !number->getType()->isIntegerType() || !number->EvaluateAsInt(r, context) || !r.Val.getInt().isRepresentableByInt64()) return std::nullopt;
  bool reads = true;
  const auto look = [&](auto&& self, const Stmt* s, bool read) -> void {
    if (!s || !reads) return;
    const auto* use = dyn_cast<DeclRefExpr>(s);
    if (use && use->getDecl() == v) reads = read;
    const auto* cast = dyn_cast<ImplicitCastExpr>(s);
    const auto* made = dyn_cast<CXXConstructExpr>(s);
    const auto* makes = made ? made->getConstructor() : nullptr;
    unsigned i = 0;
    for (const Stmt* child : s->children()) {
      // Copied into an argument: an optional, a list of one dimension.
      const QualType to = makes && i < makes->getNumParams() ? makes->getParamDecl(i)->getType() : QualType();
      const bool copied = !to.isNull() && (isOptional(makes->getParent()) || (to->isReferenceType() && to.getNonReferenceType().isConstQualified()));
      self(self, child, copied || (cast && cast->getCastKind() == CK_LValueToRValue) || (read && (isa<ParenExpr>(s) || (cast && cast->getCastKind() == CK_NoOp))));
      ++i;
    }
  };
  look(look, home->getBody(), false);
  return reads ? std::optional(r.Val.getInt().getExtValue()) : std::nullopt;
}

}  // namespace hvdize
