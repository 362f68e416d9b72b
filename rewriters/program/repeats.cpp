// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/repeats.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace hvdize {

namespace {

class Printer {
 public:
  Printer(std::string& out, const ASTContext& context) : out_(out), sm_(context.getSourceManager()) {}

  bool named() const { return named_; }

  void print(const Expr* e) {
    // Parentheses and conversions have been taken away before the template parameter is.
    for (const Expr* next = e; next; e = next) {
      next = e->IgnoreParenImpCasts();
      if (const auto* full = dyn_cast<FullExpr>(next)) next = full->getSubExpr();
      else if (const auto* c = dyn_cast<ExplicitCastExpr>(next)) next = c->getSubExpr();
      if (next == e) break;
    }
    if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) return name(s->getParameter());
    e = strip(e);
    if (const auto* r = dyn_cast<DeclRefExpr>(e)) return name(r->getDecl());
    if (isa<IntegerLiteral, FloatingLiteral>(e)) return number(e);
    if (const auto* s = dyn_cast<StringLiteral>(e)) return item("\"" + s->getBytes().str());
    if (const auto* m = dyn_cast<MemberExpr>(e)) name(m->getMemberDecl());
    else if (const auto* b = dyn_cast<BinaryOperator>(e)) item(b->getOpcodeStr());
    else if (const auto* u = dyn_cast<UnaryOperator>(e)) item(UnaryOperator::getOpcodeStr(u->getOpcode()));
    else item(e->getStmtClassName());
    for (const Stmt* c : e->children())
      if (const auto* x = dyn_cast_or_null<Expr>(c); x && !isa<CXXDefaultArgExpr>(x)) print(x);
    out_ += ')';
  }

 private:
  void item(llvm::StringRef text) { out_ += text, out_ += '('; }

  void name(const Decl* d) {
    if (const auto* f = dyn_cast<FunctionDecl>(d))
      if (const FunctionTemplateDecl* t = f->getPrimaryTemplate()) d = t->getTemplatedDecl();
    llvm::raw_string_ostream(out_) << static_cast<const void*>(d->getCanonicalDecl()) << '(';
    named_ = named_ || !isa<FunctionDecl>(d) || cast<FunctionDecl>(d)->getNumParams() == 0;
  }

  void number(const Expr* e) {
    const SourceLocation at = e->getBeginLoc();
    if (at.isMacroID() && !sm_.isMacroArgExpansion(at)) {
      named_ = true;
      return item("macro " + std::to_string(sm_.getSpellingLoc(at).getRawEncoding()));
    }
    if (const auto* i = dyn_cast<IntegerLiteral>(e)) item(std::to_string(i->getValue().getZExtValue()));
    else item(std::to_string(cast<FloatingLiteral>(e)->getValueAsApproximateDouble()));
  }

  std::string& out_;
  const SourceManager& sm_;
  bool named_ = false;
};

}  // namespace

std::string fingerprint(const Expr* e, const ASTContext& context) {
  std::string out;
  Printer p(out, context);
  p.print(e);
  return p.named() ? out : "";
}

llvm::SmallVector<const Expr*, 4> repeatsOf(const Expr* e, const AuthorCode& code) {
  llvm::SmallVector<const Expr*, 4> out;
  const std::string wanted = fingerprint(e, code.context());
  if (wanted.empty()) return out;
  const auto look = [&](const Expr* x) {
    if (!x->getType()->isArithmeticType() && !x->getType()->isEnumeralType()) return;
    if (isa<ImplicitCastExpr, ParenExpr, FullExpr, ExplicitCastExpr>(x)) return;
    if (isWithin(code, x, e) || isWithin(code, x, strip(e)) || isWithin(code, e, x) || fingerprint(x, code.context()) != wanted) return;
    out.push_back(x);
  };
  for (const Root& r : code.roots()) forEachExpr(r.code, look);
  return out;
}

bool repeatsIn(const Expr* tree, const Expr* e, const ASTContext& context) {
  const std::string wanted = fingerprint(e, context);
  bool found = false;
  if (!wanted.empty())
    forEachExpr(tree, [&](const Expr* x) { found = found || (x->getType()->isArithmeticType() && !isa<ImplicitCastExpr, ParenExpr, FullExpr, ExplicitCastExpr>(x) && fingerprint(x, context) == wanted); });
  return found;
}

}  // namespace hvdize
