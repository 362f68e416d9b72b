// SPDX-License-Identifier: Apache-2.0
// Tensors that are made in front of the loop with one row for each sample of a batch (labels, weights): all ranks hold the rows of the whole batch,
// and where these meet samples, this rank's are cut out.
#include "rewriters/program/data_draws.h"
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

static bool isReduction(OpKind op) {
  return op == OpKind::ReduceSum || op == OpKind::ReduceMean || op == OpKind::ReduceMax || op == OpKind::ReduceMin || op == OpKind::ReduceOther;
}

// `loader->begin()->data`, or what is computed from it sample by sample, outside of any step: it has all rows of a batch.
bool Kinds::isOfFirstBatch(const Expr* e, unsigned depth) {
  if (depth > 8 || batches_.inStep(e) > 0) return false;
  bool first = false, reduced = false;
  forEachExpr(e, [&](const Expr* x) {
    const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
    first = first || (entry && entry->role == Role::LoaderIterate);
    reduced = reduced || (entry && entry->role == Role::Op && isReduction(entry->op));
    const auto* v = !first && isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    if (!v || !v->isLocalVarDecl()) return;
    if (v->isImplicit() || v->isCXXForRangeDecl()) return (void)(first = v->getInit() && isOfFirstBatch(v->getInit(), depth + 1));
    const auto empty = [](const Expr* value) { return isa<CXXConstructExpr>(value) && argumentsOf(value).empty(); };  // Tensor first;
    unsigned given = 0;
    bool all = true;
    for (const Definition& def : definitions_.of(v))
      if (!def.value || def.compound) all = false;
      else if (!empty(strip(def.value))) ++given, all = all && isOfFirstBatch(def.value, depth + 1);
    first = all && given > 0;
  });
  return first && !reduced;
}

// A std::vector that is made with as many items as the batch has, itself or in a variable.
bool Kinds::listsBatch(const Expr* list) {
  const auto made = definitions_.origins(list);
  return !made.empty() && llvm::all_of(made, [&](const Expr* o) {
    const auto* k = dyn_cast<CXXConstructExpr>(o);
    const Expr* size = k && isStdRecord(k->getType()) && k->getNumArgs() > 0 ? k->getArg(0) : nullptr;
    return size && size->getType()->isIntegerType() && of(size).kind == Kind::BatchSize;
  });
}

// Which extent of a tensor that is made here is the size of the batch: 0, 1, ...; -1 when none is.
int Kinds::batchExtent(const Expr* made) {
  const Entry* entry = calleeOf(made) ? dialect_.lookup(made) : nullptr;
  const bool factory = entry && ((entry->role == Role::Op && entry->op == OpKind::Factory) || entry->role == Role::RandomDraw);
  const auto arguments = argumentsOf(made);
  // row.repeat({size, 1}), row.expand({size, 4})
  const bool repeated = entry && entry->role == Role::Op && entry->op == OpKind::Reshape && entry->shape >= 0 && (entry->order == 2 || calleeName(made) == "expand");
  if (!factory && !repeated) return -1;
  if (entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) {
    if (arguments.empty()) return -1;
    // arange(size); tensor(std::vector<double>(size, 1.0))
    const bool lists = calleeName(made) == "tensor" || calleeName(made) == "scalar_tensor";
    const bool spaced = (calleeName(made) == "linspace" || calleeName(made) == "logspace") && arguments.size() > 2;
    return lists ? (listsBatch(arguments[0]) ? 0 : -1) : of(arguments[spaced ? 2 : 0]).kind == Kind::BatchSize ? 0 : -1;
  }
  const auto list = extentsOf(arguments[entry->shape]);
  if (!list && isOfFirstBatch(arguments[entry->shape], 0)) return 0;  // zeros(outputs.sizes())
  for (unsigned i = 0; list && i < list->size(); ++i)
    if (of((*list)[i]).kind == Kind::BatchSize) return static_cast<int>(i);
  return -1;
}

// Is every value of this tensor made outside of any step with the batch's size as an extent? Which one; -1 when not.
int Kinds::sizedOutside(const ValueDecl* d, unsigned depth) {
  const auto definitions = definitions_.of(d);
  int extent = -1;
  if (depth > 4 || definitions.empty()) return -1;
  for (const Definition& def : definitions) {
    if (!def.value) return -1;
    if (def.compound) continue;
    int here = -1;
    // randn({classes, width}).mean(0) has no rows any more.
    bool reduced = false;
    if (batches_.inStep(def.value) == 0)
      forEachExpr(def.value, [&](const Expr* x) {
        if (here < 0) here = batchExtent(x);
        const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
        reduced = reduced || (entry && entry->role == Role::Op && isReduction(entry->op));
      });
    if (reduced) here = -1;
    if (here < 0) here = sizedResult(def.value, d, depth + 1);
    if (here < 0 || (extent >= 0 && here != extent)) return -1;
    extent = here;
  }
  return extent;
}

// The same for a result that is computed from such tensors element by element, or another name of one.
int Kinds::sizedResult(const Expr* spelled, const ValueDecl* target, unsigned depth) {
  const Expr* e = strip(spelled);
  if (isa<DeclRefExpr, MemberExpr>(e)) {
    const ValueDecl* d = declOf(e);
    return d && d != target && isTensor(d->getType()) ? sizedOutside(d, depth) : -1;
  }
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Elementwise || depth > 4) return -1;
  int extent = -1;
  llvm::SmallVector<const Expr*, 4> operands = argumentsOf(e);
  if (const Expr* object = objectOf(e)) operands.push_back(object);
  for (const Expr* o : operands)
    if (isTensor(o->getType()) && extent < 0) extent = sizedResult(o, target, depth + 1);
  return extent;
}

// Does a tensor of this rank's samples take part in the operation that this mention goes into?
bool Kinds::meetsSamples(const Expr* mention) {
  for (const Stmt* p = code_.parent(mention); p; p = code_.parent(p)) {
    const auto* x = dyn_cast<Expr>(p);
    if (!x) return false;
    const FunctionDecl* f = calleeOf(x);
    if (!f || isa<CXXConstructExpr>(x) || !dialect_.lookup(x)) {
      if (f && !isa<CXXConstructExpr>(x) && !isSystemDecl(f)) return false;  // a function of the program: its parameter is asked
      continue;
    }
    llvm::SmallVector<const Expr*, 4> operands = argumentsOf(x);
    if (const Expr* object = objectOf(x)) operands.push_back(object);
    const bool direct = llvm::any_of(operands, [&](const Expr* o) { return strip(o) == mention; });
    for (const Expr* o : operands)
      // A vector goes with the last dimension of what has several, and not with its rows.
      if (isTensor(o->getType()) && !isWithin(code_, mention, o) && strip(o) != mention && !(direct && ranks_.exactly(mention) == 1 && std::max(ranks_.atLeast(o), ranks_.exactly(o)) > 1))
        if (const Kind k = of(o).kind; k == Kind::Sharded || k == Kind::Second) return true;
    if (!isTensor(x->getType())) return false;
  }
  return false;
}

Value Kinds::sizedMention(const ValueDecl* d, const Expr* mention, const Value& v) {
  if (!v.isUniform() || !isTensor(d->getType()) || batches_.inStep(mention) == 0 || !open_.insert(mention).second) return v;
  Value out = v;
  const int extent = isTakenInStep(mention) ? 0 : sizedOutside(d, 0);
  if (extent >= 0 && !cutsRows(mention) && meetsSamples(mention)) {
    if (extent == 0) {
      if (recording_) wholeDraws_.insert(mention);
      if (recording_ && !isTakenInStep(mention) && inTrainingStep(mention)) ownRows_.insert(mention);
      out = Value(Kind::Sharded);
      out.power = v.power;  // ones({batch, 1}) / batch
    } else {
      out = Value::unknown(mention, "it was made in front of the loop with an extent for all samples of a batch: make it inside the loop");
    }
  }
  open_.erase(mention);
  return out;
}

// labels.slice(0, 0, rows), labels.narrow(0, 0, rows): the first rows, as many as the batch has. Then the result is cut, not the labels.
bool Kinds::cutsRows(const Expr* mention) const {
  const Stmt* p = code_.parent(mention);
  while (isa_and_nonnull<ImplicitCastExpr, MemberExpr, ParenExpr>(p)) p = code_.parent(p);
  const auto* call = dyn_cast_or_null<Expr>(p);
  const Entry* entry = call && calleeOf(call) ? dialect_.lookup(call) : nullptr;
  return entry && entry->role == Role::Op && entry->op == OpKind::Select;
}

// Of `whole.slice(0, 0, rows)` the argument that counts the batch's rows; null for anything else.
const Expr* Kinds::firstRows(const Expr* e, const Entry& entry) {
  const llvm::StringRef name = calleeName(e);
  const auto arguments = argumentsOf(e);
  const unsigned dim = entry.dim < 0 ? 0 : static_cast<unsigned>(entry.dim);
  if ((name != "slice" && name != "narrow") || arguments.size() != dim + 3 || dimensionOf(e, entry, code_.context()).value_or(-1) != 0) return nullptr;
  if (isChangedThere(code_, dialect_, e)) return nullptr;  // queue.slice(0, 0, rows) = out: see writtenRows
  const auto* first = dyn_cast<IntegerLiteral>(strip(arguments[dim + 1]));
  return first && first->getValue() == 0 && of(arguments[dim + 2]).kind == Kind::Rows ? arguments[dim + 2] : nullptr;
}

// `view({64, -1})` of a batch, where the loader is given a 64 of its own: the same number, and a shape that fits whole batches.
bool Kinds::isSizeOfBatches(const Expr* literal) const {
  const auto* number = dyn_cast<IntegerLiteral>(literal);
  const IntegerLiteral* size = nullptr;
  for (const Expr* s : batchSizes_)
    if (const auto* i = dyn_cast<IntegerLiteral>(strip(s))) {
      if (size && size->getValue().getZExtValue() != i->getValue().getZExtValue()) return false;
      size = i;
    }
  return number && size && number->getValue().getZExtValue() == size->getValue().getZExtValue() && size->getValue().ugt(1);
}

}  // namespace hvdize
