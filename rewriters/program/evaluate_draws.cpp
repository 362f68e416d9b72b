// SPDX-License-Identifier: Apache-2.0
// New tensors and random numbers of the framework: whose they are, and which of them are made for the whole batch.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/selected.h"

using namespace clang;

namespace hvdize {

// How many samples a mask selects is another number on each rank: what is made for the whole batch can't be cut to them.
const char* const kSelectedRows = "it has a row for each sample that a mask selects, and how many of them are this rank's is not known where it is made";

// A number of samples of the whole batch that is not the size of the batch: `hits` of `const auto hits = mask.sum().item<int64_t>();`.
bool Kinds::countsSelected(const Expr* spelled, unsigned depth) {
  const Expr* e = strip(spelled);
  if (!e || depth > 8) return false;
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return countsSelected(cast->getSubExpr(), depth + 1);
  if (const auto* scalar = dyn_cast<CXXConstructExpr>(e); scalar && scalar->getNumArgs() == 1 && scalar->getArg(0)->getType()->isArithmeticType()) return countsSelected(scalar->getArg(0), depth + 1);
  const Value v = eval(e);
  if (v.kind == Kind::BatchSize || !v.isUniform()) return false;
  if (v.power > 0) return true;
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && (b->isAdditiveOp() || b->getOpcode() == BO_Mul)) return countsSelected(b->getLHS(), depth + 1) || countsSelected(b->getRHS(), depth + 1);
  if (const FunctionDecl* f = calleeOf(e); f && isSystemDecl(f) && (calleeName(e) == "max" || calleeName(e) == "min"))
    return llvm::any_of(argumentsOf(e), [&](const Expr* a) { return countsSelected(a, depth + 1); });
  const auto* d = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  return d && d->isLocalVarDecl() && d->getInit() && batches_.inStep(d->getInit()) > 0 && countsSelected(d->getInit(), depth + 1);
}

// `zeros({hits, 3})`, `arange(hits)`.
bool Kinds::hasSelectedRows(const Expr* e, const Entry& entry) {
  const auto given = argumentsOf(e);
  if (batches_.inStep(e) == 0 || entry.shape >= static_cast<int>(given.size())) return false;
  if (entry.shape < 0) return entry.op == OpKind::Factory && calleeName(e).contains("arange") && llvm::any_of(given, [&](const Expr* a) { return countsSelected(a); });
  const auto extents = extentsOf(given[entry.shape]);
  return extents && !extents->empty() && countsSelected(extents->front());
}

// Are the rows those of the batch, in its order? Of those of several tensors, one behind another, or that a mask selects, a rank's are no
// piece of the whole.
static bool cutsLikeBatch(const Value& rows) { return rows.kind == Kind::Sharded && !rows.joined && !rows.selected; }

Value Kinds::evalDraw(const Expr* e, const Entry& entry) {
  const Expr* object = objectOf(e);
  const bool inStep = recording_ && batches_.inStep(e) > 0;
  const auto given = argumentsOf(e);
  if (const Expr* fresh = object && isTensor(e->getType()) ? freshTensor(object, dialect_) : nullptr) {
    // empty({rows}).uniform_(a, b): as rand({rows}), a draw for the whole batch.
    const Entry& maker = *dialect_.lookup(fresh);
    const auto sizes = argumentsOf(fresh);
    for (const Expr* a : given) eval(a);
    if (maker.shape >= 0) {
      const Value v = evalFactory(fresh, maker, e);
      if (v.isUniform() && inStep) sharedDraws_.insert(e);
      return v;
    }
    const bool drawsLike = llvm::any_of(dialect_.entries(), [](const Entry* x) { return x->role == Role::RandomDraw && x->like >= 0; });
    if (drawsLike && !sizes.empty() && cutsLikeBatch(eval(sizes[0])) && eval(fresh).kind == Kind::Sharded) {
      if (recording_) wholeDraws_.insert(e), likes_.insert(sizes[0]);
      return Kind::Sharded;
    }
  }
  const Value self = object ? eval(object) : Value();
  // multinomial(table, rows * 5, true): so many numbers for each sample, drawn for the whole batch.
  if (const Expr* many = calleeName(e) == "multinomial" ? given.size() > (object ? 0u : 1u) ? given[object ? 0 : 1] : nullptr : nullptr; many && batches_.inStep(e) > 0 && !batches_.feeds(e) && !batches_.shards().count(e)) {
    const Value chances = object ? self : eval(given[0]);
    // Positions that the step's batch is taken by stay whole.
    const auto formsBatch = [&] {
      for (const Stmt* p = e; p && isa<Expr>(p); p = code_.parent(p))
        if (const VarDecl* v = code_.variableInitialisedBy(p))
          return llvm::any_of(definitions_.uses(v), [&](const Expr* use) { return llvm::any_of(batches_.shards(), [&](const Expr* s) { return isWithin(code_, use, s); }); });
      return false;
    };
    if (chances.isUniform() && countsRows(many) && !formsBatch()) {
      if (recording_) wholeDraws_.insert(e);
      if (recording_ && eval(many).kind == Kind::Rows) rowCounts_.insert(rowsFactor(many));
      Value drawn(Kind::Sharded);
      drawn.flat = true;
      return drawn;
    }
  }
  // randperm(batch.x.size(0)): a new order of the whole batch, of which each rank has its part.
  if (calleeName(e) == "randperm" && !object && !given.empty() && batches_.inStep(e) > 0 && !batches_.feeds(e) && !batches_.shards().count(e) && eval(given[0]).kind == Kind::Rows) {
    if (recording_) wholeDraws_.insert(e), rowCounts_.insert(rowsFactor(given[0]));
    Value drawn(Kind::Sharded);
    drawn.flat = true;
    return drawn;
  }
  Value v;
  if (entry.shape >= 0) v = evalFactory(e, entry);
  else
    for (const Expr* a : given) v = join(v, eval(a));
  if (object && self.kind != Kind::None) {
    // noise.normal_(): into a tensor that all ranks have alike go the same numbers.
    if (self.isUniform() && isTensor(e->getType()) && inStep) sharedDraws_.insert(e);
    if ((self.kind == Kind::Sharded || self.kind == Kind::Second) && inStep) localDraws_.insert(e);
    return self;
  }
  // In the shape of this rank's rows: a draw for the whole batch.
  if (const Value like = entry.like >= 0 && entry.like < static_cast<int>(given.size()) ? eval(given[entry.like]) : Value(); recording_ && like.kind == Kind::Sharded) {
    if (cutsLikeBatch(like)) wholeDraws_.insert(e), likes_.insert(given[entry.like]);
    else if (inStep) localDraws_.insert(e);
  }
  const bool otherRows = v.joined && !v.selected;  // functional::dropout
  if (inStep && v.kind == Kind::Second) localDraws_.insert(e);
  if (inStep && v.kind == Kind::Sharded && (otherRows || dialect_.ownStepDraws())) localDraws_.insert(e);
  const bool valued = isTensor(e->getType()) && isa<CallExpr>(e) && !isa<CXXMemberCallExpr>(e);
  if (v.isUniform() && valued && recording_ && batches_.isFirstRunInStep(e)) sharedDraws_.insert(e);
  return v.kind == Kind::None ? Value(Kind::Uniform) : v;
}

// The number of samples of a step, or a multiple of it.
bool Kinds::countsRows(const Expr* spelled) {
  const Expr* e = strip(spelled);
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return countsRows(cast->getSubExpr());
  if (const Kind k = eval(e).kind; k == Kind::Rows || k == Kind::BatchSize) return true;
  const auto* b = dyn_cast<BinaryOperator>(e);
  return b && b->getOpcode() == BO_Mul && (countsRows(b->getLHS()) || countsRows(b->getRHS()));
}

// tensor(1.0 / batch), full({batch, 1}, 1.0 / batch): how what it is filled with grows with the batch.
int Kinds::powerOfContents(const Expr* made, const Entry& entry) {
  const llvm::StringRef name = calleeName(made);
  if (name != "full" && name != "tensor" && name != "scalar_tensor") return 0;
  const auto arguments = argumentsOf(made);
  if (name == "tensor" && !arguments.empty() && listsBatch(arguments[0])) {  // std::vector<double>(batch, 1.0 / batch)
    const auto lists = definitions_.origins(arguments[0]);
    const auto* k = lists.size() == 1 ? cast<CXXConstructExpr>(lists.front()) : nullptr;
    const Value v = k && k->getNumArgs() > 1 && k->getArg(1)->getType()->isArithmeticType() ? eval(k->getArg(1)) : Value();
    return v.isUniform() ? v.power + (v.kind == Kind::BatchSize ? 1 : 0) : 0;
  }
  const auto isNumber = [](const Expr* e) { return strip(e)->getType()->isArithmeticType(); };
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Expr* value = strip(arguments[i]);
    while (const auto* k = dyn_cast<CXXConstructExpr>(value)) {  // a scalar
      if (argumentsOf(k).size() != 1) break;
      value = strip(argumentsOf(k)[0]);
    }
    if (static_cast<int>(i) == entry.shape || !isNumber(value)) continue;
    const Value v = eval(value);
    return v.isUniform() ? v.power + (v.kind == Kind::BatchSize ? 1 : 0) : 0;
  }
  return 0;
}

Value Kinds::filledWith(const Expr* made, const Entry& entry) {
  Value v(Kind::Uniform);
  v.power = powerOfContents(made, entry);
  return v;
}

Value Kinds::evalFactory(const Expr* e, const Entry& entry, const Expr* draw) {
  if (hasSelectedRows(e, entry)) {
    const Value unknown = Value::unknown(e, kSelectedRows);
    if (batches_.feeds(e)) problem(e, unknown, kSelectedRows);
    return unknown;
  }
  // A draw that a whole batch is formed from is made for the whole batch.
  if (batches_.feeds(e)) {
    for (const Expr* a : argumentsOf(e)) eval(a);
    return Kind::Uniform;
  }
  const auto arguments = argumentsOf(e);
  Value rows, contents(Kind::Uniform);
  if (!draw) contents.power = powerOfContents(e, entry);
  std::optional<llvm::SmallVector<const Expr*, 4>> list;
  llvm::SmallVector<const Expr*, 2> inner;  // extents behind the first that are this rank's rows
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (static_cast<int>(i) != entry.shape) {
      if (eval(arguments[i]).kind == Kind::Rows) contents = host(arguments[i]);  // full({}, rows): what it is filled with
      continue;
    }
    list = extentsOf(arguments[i]);
    for (unsigned k = 0; list && k < list->size(); ++k) {
      const Value v = eval((*list)[k]);
      if (k == 0) rows = v;
      else if (v.kind == Kind::Rows || (v.kind == Kind::BatchSize && batches_.inStep(e) > 0)) inner.push_back((*list)[k]);
      else host((*list)[k]);
    }
    if (!list) rows = eval(arguments[i]);
  }
  const llvm::StringRef name = calleeName(e);
  const bool zero = name.contains("zeros");
  const bool constant = !draw && entry.role == Role::Op && (zero || name.contains("ones") || name.contains("empty") || name.contains("full"));
  if (!inner.empty() && !rows.dependsOnSamples()) {
    // The state of a recurrent layer, say: this rank's columns of a tensor that is the same everywhere.
    if (!constant)
      return Value::unknown(e, "the samples run along another dimension than the first");
    for (const Expr* x : inner)
      if (recording_ && eval(x).kind == Kind::BatchSize) localSizes_.insert(x);
    if (zero) return Kind::Zero;
    const bool beside = list && list->size() >= 2 && inner.size() == 1 && inner.front() == (*list)[1] && !name.contains("empty");
    Value columns(beside ? Kind::Second : Kind::Uniform);
    columns.deep = beside && list->size() > 2;
    return columns;
  }
  if (rows.joined && !constant && rows.dependsOnSamples())
    return Value::unknown(e, "it has the rows of several tensors, one behind another: the ranks' rows do not line up to those of the batch");
  if ((rows.kind == Kind::Shape || rows.kind == Kind::Rows) && batches_.inStep(e) == 0)
    problem(arguments[entry.shape], Value::unknown(arguments[entry.shape], "it has the rows of a step that is over, which were those of this rank"), "used here");
  // A shape taken from this rank's tensor, filled with a constant, is this rank's.
  if (rows.kind == Kind::Shape && entry.role == Role::Op && !draw) return zero ? Kind::Zero : Kind::Sharded;
  if (rows.kind == Kind::Shape) {
    // A draw in the shape of this rank's tensor is one for the whole batch.
    if (recording_) wholeDraws_.insert(draw ? draw : e), rowCounts_.insert(arguments[entry.shape]);
    return Kind::Sharded;
  }
  const bool batch = rows.kind == Kind::Rows || (rows.kind == Kind::BatchSize && batches_.inStep(e) > 0);
  if (!batch && !rows.dependsOnSamples()) return zero && !draw ? Value(Kind::Zero) : contents;
  if (!batch) return Value::unknown(e, "the shape of a new tensor depends on this rank's samples");
  // Filled with a constant: what this rank makes for its own rows is what it would cut out of the whole.
  if (constant) {
    const Expr* extent = list ? list->front() : arguments[entry.shape];
    if (recording_ && rows.kind == Kind::BatchSize) localSizes_.insert(extent);
    if (recording_ && rows.kind == Kind::BatchSize && inTrainingStep(e)) ownRows_.insert(extent);
    Value filled(Kind::Sharded);
    filled.power = contents.power;
    return filled;
  }
  if (recording_) {
    wholeDraws_.insert(draw ? draw : e);
    if (rows.kind == Kind::Rows) rowCounts_.insert(list ? list->front() : arguments[entry.shape]);
    else if (!name.contains("perm") && inTrainingStep(e)) ownRows_.insert(draw ? draw : e);
  }
  return Kind::Sharded;
}

}  // namespace hvdize
