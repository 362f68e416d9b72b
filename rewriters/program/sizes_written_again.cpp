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
      : code_(code), dialect_(dialect), batches_(batches), definitions_(definitions), size_(size), sizes_(std::move(sizes)) {}

  // `x.size(0) != 64`, in a step: a batch that is not whole.
  bool comparesRows(const BinaryOperator* b) const {
    return b->isComparisonOp() && ((asksRows(b->getLHS()) && isOneOf(b->getRHS())) || (asksRows(b->getRHS()) && isOneOf(b->getLHS())));
  }
  // `seen += 64;` in a step, of a variable that nothing else changes there.
  bool countsSamples(const BinaryOperator* b) const {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(b->getLHS()));
    return b->getOpcode() == BO_AddAssign && v && v->getType()->isIntegerType() && isSize(b->getRHS());
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
};

}  // namespace

llvm::SetVector<const Expr*> sizesWrittenAgain(const AuthorCode& code, const Dialect& dialect, const Batches& batches, const Definitions& definitions,
                                               const Quantity& batchSize) {
  llvm::SetVector<const Expr*> again;
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
      if (!b || !(search.countsBatches(b) || search.comparesRows(b) || search.countsParts(b, batchSize) || (batches.inStep(b) > 0 && search.countsSamples(b)))) return;
      const Expr* number = search.number(b);
      if (!batchSize.places().count(number)) again.insert(number);
    });
  return again;
}

}  // namespace hvdize
