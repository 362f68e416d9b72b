// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/sizes_written_again.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

std::optional<uint64_t> literalOf(const Expr* e) {
  const auto* i = dyn_cast<IntegerLiteral>(strip(e));
  return i ? std::optional(i->getValue().getZExtValue()) : std::nullopt;
}

class Search {
 public:
  Search(const AuthorCode& code, const Dialect& dialect, const Batches& batches, const Definitions& definitions, std::optional<uint64_t> size,
         llvm::DenseSet<uint64_t> sizes)
      : code_(code), dialect_(dialect), batches_(batches), definitions_(definitions), size_(size), sizes_(std::move(sizes)), constants_(constantSizes()) {}

  // `x.size(0) != 64`, in a step: a batch that is not whole.
  bool comparesRows(const BinaryOperator* b) const {
    return b->isComparisonOp() && ((asksRows(b->getLHS()) && isOneOf(b->getRHS())) || (asksRows(b->getRHS()) && isOneOf(b->getLHS())));
  }
  // `seen += 64;` in a step.
  bool adds(const BinaryOperator* b) const {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(b->getLHS()));
    return b->getOpcode() == BO_AddAssign && v && v->getType()->isIntegerType() && isSize(b->getRHS());
  }
  // The same in each step, not in some of them: `if (step == next) next += 64;` says when to do something again.
  bool countsSamples(const BinaryOperator* b) const {
    if (!adds(b)) return false;
    for (const Stmt *s = b, *p = code_.parent(s); p && !batches_.isStepLoop(p); s = p, p = code_.parent(p)) {
      const auto* i = dyn_cast<IfStmt>(p);
      if ((i && s != i->getCond()) || isa<SwitchStmt, AbstractConditionalOperator, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(p)) return false;
    }
    return !isComparedWithSteps(declOf(b->getLHS()));
  }
  // `set.size() / 64`: whole batches of the data.
  bool countsWholeBatches(const BinaryOperator* b) const {
    return b->getOpcode() == BO_Div && b->getType()->isIntegerType() && isSize(b->getRHS()) && isDataSize(b->getLHS());
  }
  // `(set.size() + 63) / 64`, `set.size() / 64.0`, `static_cast<double>(set.size()) / 64`.
  bool countsBatchesOtherwise(const BinaryOperator* b) const {
    if (b->getOpcode() != BO_Div || countsWholeBatches(b) || !(isSize(b->getRHS()) || isRealSize(b->getRHS()))) return false;
    bool ofData = false;
    forEachExpr(b->getLHS(), [&](const Expr* x) { ofData = ofData || (x->getType()->isArithmeticType() && isDataSize(x)); });
    return ofData;
  }
  // `loss.item() * 64` in a step; `50000 / 64` of constants, outside of shapes.
  bool mayMeanIt(const BinaryOperator* b) const {
    if (b->getOpcode() == BO_Mul && batches_.inStep(b) > 0 && b->getType()->isFloatingType()) {
      const bool right = isSize(b->getRHS()) || isRealSize(b->getRHS());
      const bool percent = size_ == 100 && isRealSize(right ? b->getRHS() : b->getLHS());  // 100.0 * hits.item<double>() / n
      return !percent && (right || isSize(b->getLHS()) || isRealSize(b->getLHS())) && readsNumber(right ? b->getLHS() : b->getRHS());
    }
    const auto whole = b->getOpcode() == BO_Div && b->getType()->isIntegerType() && isSize(b->getRHS()) ? valueOf(b->getLHS()) : std::nullopt;
    if (!whole || *whole <= *size_) return b->getOpcode() == BO_AddAssign && batches_.inStep(b) > 0 && adds(b) && !countsSamples(b);
    for (const Stmt* p = code_.parent(b); p; p = code_.parent(p))
      if (const auto* e = dyn_cast<Expr>(p); e && (isa<CXXConstructExpr, InitListExpr>(e) || (calleeOf(e) && dialect_.lookup(e)))) return false;  // an extent
    return true;
  }
  // `step * 64`, where step counts steps.
  bool countsBatches(const BinaryOperator* b) const {
    return b->getOpcode() == BO_Mul && b->getType()->isIntegerType() && ((isSize(b->getRHS()) && numbersSteps(b->getLHS())) || (isSize(b->getLHS()) && numbersSteps(b->getRHS())));
  }
  // `16 / part`, `batch / 4`: how many parts a batch has.
  bool countsParts(const BinaryOperator* b, const Quantity& batchSize) const {
    return b->getOpcode() == BO_Div && b->getType()->isIntegerType() && sizes_.size() > 1 &&
           ((isOneOf(b->getLHS()) && batchSize.derived(b->getRHS())) || (isOneOf(b->getRHS()) && batchSize.derived(b->getLHS())));
  }
  const Expr* number(const BinaryOperator* b) const { return isOneOf(b->getRHS()) ? strip(b->getRHS()) : strip(b->getLHS()); }

 private:
  bool isSize(const Expr* e) const { return size_ && literalOf(e) == size_; }
  bool isRealSize(const Expr* e) const {
    const auto* real = dyn_cast<FloatingLiteral>(strip(e));
    return size_ && real && real->getValueAsApproximateDouble() == static_cast<double>(*size_);
  }
  std::optional<uint64_t> valueOf(const Expr* e) const {
    Expr::EvalResult result;
    if (e->isValueDependent() || !e->EvaluateAsInt(result, code_.context()) || !result.Val.getInt().isStrictlyPositive()) return std::nullopt;
    return result.Val.getInt().getLimitedValue();
  }
  bool readsNumber(const Expr* e) const {
    bool reads = false;
    forEachExpr(e, [&](const Expr* x) {
      const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
      reads = reads || (entry && entry->op == OpKind::ToHost);
    });
    return reads;
  }
  // The size of a data set: what it says itself, also as an optional's value, or the constant that it returns.
  bool isDataSize(const Expr* e, unsigned depth = 0) const {
    e = strip(e);
    if (!e || depth > 4) return false;
    if (calleeOf(e) && dialect_.is(e, Role::DatasetSize)) return true;
    if (const auto value = valueOf(e)) return constants_.count(*value);
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (o && o->getOperator() == OO_Star && o->getNumArgs() == 1) return isDataSize(o->getArg(0), depth + 1);
    if (calleeOf(e) && isSystemDecl(calleeOf(e)) && (calleeName(e) == "value" || calleeName(e) == "value_or")) return objectOf(e) && isDataSize(objectOf(e), depth + 1);
    if (!isa<DeclRefExpr, MemberExpr>(e)) return false;
    const auto given = definitions_.of(declOf(e));
    return given.size() == 1 && given[0].value && !given[0].compound && isDataSize(given[0].value, depth + 1);
  }
  // `step == next`, where step counts steps.
  bool isComparedWithSteps(const ValueDecl* d) const {
    return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
      const Stmt* p = code_.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
      const auto* b = dyn_cast_or_null<BinaryOperator>(p);
      return b && b->isComparisonOp() && numbersSteps(isWithin(code_, use, b->getLHS()) ? b->getRHS() : b->getLHS());
    });
  }
  // What the data sets of the program say of their sizes, where those are constants.
  llvm::DenseSet<uint64_t> constantSizes() const {
    llvm::DenseSet<uint64_t> sizes;
    for (const Function& f : code_.functions()) {
      const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
      if (!m || !m->getDeclName().isIdentifier() || m->getName() != "size" || m->size_overridden_methods() == 0) continue;
      for (const Expr* r : definitions_.returns(m))
        forEachExpr(r, [&](const Expr* x) {
          if (const auto value = x->getType()->isIntegerType() ? valueOf(x) : std::nullopt) sizes.insert(*value);
        });
    }
    return sizes;
  }

  bool isOneOf(const Expr* e) const {
    const auto value = literalOf(e);
    return value && sizes_.count(*value);
  }
  // A round of a loop over a loader whose batches are taken in parts is no step, and has a batch.
  bool inRound(const Expr* e) const {
    return batches_.inStep(e) > 0 || llvm::any_of(batches_.loaderLoops(), [&](const LoaderLoop& l) { return l.inParts && batches_.inBody(e, l.loop); });
  }

  bool asksRows(const Expr* e) const {
    const auto origins = definitions_.origins(e);
    return origins.size() == 1 && inRound(e) && [&](const Expr* o) {
      const Entry* entry = calleeOf(o) ? dialect_.lookup(o) : nullptr;
      return entry && entry->op == OpKind::Size && dimensionOf(o, *entry, code_.context()) == 0;
    }(strip(origins.front()));
  }

  // A variable that grows by one in each step, and by nothing else.
  bool numbersSteps(const Expr* e) const {
    const auto* sum = dyn_cast<BinaryOperator>(strip(e));  // (step + 1) * 64
    if (sum && sum->getOpcode() == BO_Add && literalOf(sum->getRHS()) == 1) e = sum->getLHS();
    const auto* counted = dyn_cast<UnaryOperator>(strip(e));  // ++step == next
    if (counted && counted->isIncrementOp()) e = counted->getSubExpr();
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
    if (!v || !v->getType()->isIntegerType()) return false;
    long grows = 0;
    for (const Expr* use : definitions_.uses(v)) {
      const Stmt* p = code_.parent(use);
      const auto* u = dyn_cast_or_null<UnaryOperator>(p);
      if (u && u->isIncrementDecrementOp()) {
        if (!u->isIncrementOp() || batches_.inStep(u) == 0) return false;
        ++grows;
      }
    }
    return grows > 0 && llvm::count_if(definitions_.of(v), [](const Definition& d) { return d.compound; }) <= grows;
  }

  const AuthorCode& code_;
  const Dialect& dialect_;
  const Batches& batches_;
  const Definitions& definitions_;
  std::optional<uint64_t> size_;   ///< the only one
  llvm::DenseSet<uint64_t> sizes_;  ///< of batches, and of parts of them
  llvm::DenseSet<uint64_t> constants_;  ///< sizes of data sets
};

}  // namespace

SizesWrittenAgain sizesWrittenAgain(const AuthorCode& code, const Dialect& dialect, const Batches& batches, const Definitions& definitions,
                                    const Quantity& batchSize) {
  SizesWrittenAgain again;
  std::optional<uint64_t> size;
  llvm::DenseSet<uint64_t> sizes;
  const bool parts = llvm::any_of(batches.loaderLoops(), [](const LoaderLoop& l) { return l.inParts; });
  for (const Expr* place : batchSize.places()) {
    const auto value = literalOf(place);
    if (!value || *value < 2 || (size && *size != *value && !parts)) return again;
    size = value;
    sizes.insert(*value);
  }
  if (!size) return again;
  if (sizes.size() > 1) size = std::nullopt;
  const Search search(code, dialect, batches, definitions, size, sizes);
  for (const Root& r : code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      const auto* b = dyn_cast<BinaryOperator>(e);
      if (!b) return;
      const bool means = search.countsBatches(b) || search.comparesRows(b) || search.countsParts(b, batchSize) || search.countsWholeBatches(b) || (batches.inStep(b) > 0 && search.countsSamples(b));
      const Expr* number = search.number(b);
      if (batchSize.places().count(number)) return;
      if (means) again.places.insert(number);
      else if (search.countsBatchesOtherwise(b)) again.fixed = again.fixed ? again.fixed : b;
      else if (search.mayMeanIt(b)) again.unclear.insert(b);
    });
  return again;
}

}  // namespace hvdize
