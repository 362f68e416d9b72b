// SPDX-License-Identifier: Apache-2.0
// Tensor operations that work along a dimension, or take one away.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/selected.h"

#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr const char* kMayBeFlat = "there may be one number for each sample, and the last dimension is then the one of the samples (name the dimension, or bring it to two dimensions)";

}  // namespace

// As dimensionOf; nothing when a dimension that is counted from the end may be the first one.
std::optional<int> Kinds::alongOf(const Expr* e, const Entry& entry) const {
  const auto dim = dimensionOf(e, entry, code_.context());
  const auto arguments = argumentsOf(e);
  const Expr* tensor = objectOf(e) ? objectOf(e) : arguments.empty() ? nullptr : arguments[0];
  if (!dim || *dim >= -1) return dim;
  if (const int rank = tensor ? ranks_.exactly(tensor) : -1; rank >= 0) return rank + *dim >= 0 ? std::optional(rank + *dim) : std::nullopt;
  return !tensor || ranks_.atLeast(tensor) <= -*dim ? std::nullopt : dim;
}

// The dimension that options name; nothing when they name none. Inside: nothing when it is not a constant.
std::optional<std::optional<int>> Kinds::optionOf(const Expr* e, const Entry& entry) const {
  const auto arguments = argumentsOf(e);
  if (entry.dimOption.empty() || entry.options < 0 || entry.options >= static_cast<int>(arguments.size())) return std::nullopt;
  std::optional<std::optional<int>> found;
  for (const Setting& o : definitions_.settings(arguments[entry.options]))
    if (const auto d = dimensionOption(o.tree, entry.dimOption, code_.context())) found = found && *found != *d ? std::optional<int>() : *d;
  return found;
}

Value Kinds::evalRowwise(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  for (const Expr* a : arguments) eval(a);
  // roll(queue, -x.size(0), 0): by the rows of the whole batch.
  if (v.isUniform() && batches_.inStep(e) > 0)
    for (const Expr* a : arguments)
      forEachExpr(a, [&](const Expr* x) {
        if ((isa<DeclRefExpr, MemberExpr>(x) || calleeOf(x)) && x->getType()->isIntegerType() && eval(x).kind == Kind::Rows) host(x);
      });
  if (v.kind != Kind::Sharded) return elementwise(v, e);
  const llvm::StringRef name = calleeName(e);
  const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
  const auto told = optionOf(e, entry);
  const auto dim = told ? *told : alongOf(e, entry);
  // Without a dimension these work along the last one, or along all.
  const bool last = dimGiven ? dim && *dim == -1 : name == "topk" || name == "sort" || name == "argsort" || dim == -1;
  if (((dimGiven || told) && (!dim || *dim == 0)) || ((last || (told && dim == -1)) && v.flat) || (!dimGiven && name == "roll"))
    return Value::unknown(e, "it works along the first dimension, which runs over the samples");
  const Expr* tensor = objectOf(e) ? objectOf(e) : arguments.empty() ? nullptr : arguments[0];
  if ((last || (told && dim == -1)) && v.thin && ranks_.atLeast(tensor) < 2) return Value::unknown(e, kMayBeFlat);
  if (llvm::any_of(arguments, [&](const Expr* a) { return shapedLikeBatch(a); }))
    return Value::unknown(e, "it works along all dimensions, the one of the samples among them");
  if (name == "one_hot" && arguments.size() < (objectOf(e) ? 1u : 2u))
    return Value::unknown(e, "the number of classes is taken from the samples at hand (give it as an argument)");
  if ((name == "tril" || name == "triu") && ranks_.atLeast(objectOf(e) ? objectOf(e) : arguments[0]) < 3)
    return Value::unknown(e, "of a matrix it keeps another part of each row, and the rows are samples");
  // pad(rows, {0, 0, 0, 8 - rows.size(0)}): each rank would fill up its own rows.
  bool byRows = false;
  if (name.contains("pad"))
    for (const Expr* a : arguments)
      forEachExpr(a, [&](const Expr* x) { byRows = byRows || (x->getType()->isIntegerType() && eval(x).kind == Kind::Rows); });
  if (byRows) return Value::unknown(e, "rows are put behind those of the samples, as many as are missing");
  Value rows = v;
  const bool takesAway = name == "argmax" || name == "argmin";
  if (takesAway && !dimGiven && !told) return Value::unknown(e, "it looks at all samples, and gives a position among them");
  if (takesAway || name == "cosine_similarity" || name == "pairwise_distance") loseDimension(rows, tensor);
  else if (name == "one_hot" || name == "embedding") rows.flat = rows.thin = false;
  return rows;
}

// `counts.index_add_(0, labels, ones)`: a tensor that all ranks have alike gets numbers of this rank's samples. `with`: what the arguments are.
Value Kinds::changedInPlace(const Expr* e, const Value& with) {
  const Expr* object = objectOf(e);
  if (!object || !isTensor(object->getType()) || !with.dependsOnSamples() || !calleeName(e).ends_with("_")) return with;
  const Value mixed = Value::unknown(e, "numbers of this rank's samples are put into places of a tensor that all ranks have");
  assign(object, mixed);
  return mixed;
}

// sum_out(total, x, 0), dictionary.insert("loss", loss): a function of the framework that hvdize does not know, and what it may write.
void Kinds::writtenByFramework(const Expr* e) {
  if (isa<CXXConstructExpr>(e) || batches_.inStep(e) == 0) return;
  const auto arguments = argumentsOf(e);
  Value in(Kind::Uniform);
  for (const Expr* a : arguments)
    if (isTensor(a->getType())) in = join(in, eval(a));
  if (!in.dependsOnSamples()) return;
  const Value written = Value::unknown(e, "a function that hvdize does not know puts values of this rank's samples there (assign what a function returns)");
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(calleeOf(e));
  if (const Expr* object = objectOf(e); object && method && (!method->isConst() || addsItem(calleeName(e))) && !isTensor(object->getType())) assign(object, written);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const ParmVarDecl* p = parameterOf(e, i);
    const QualType t = p ? p->getType() : QualType();
    if (p && t->isLValueReferenceType() && !t->getPointeeType().isConstQualified() && isTensor(t->getPointeeType())) assign(arguments[i], written);
  }
}

// What is left of a reduction over the samples, reduced over its other dimensions: sums of sums and maxima of maxima combine, others do not.
Value Kinds::reducedAgain(const Value& v, OpKind op, const Expr* e) {
  static const llvm::StringSet<> linear = {"diagonal", "diag", "trace"};
  if (!v.dependsOnSamples()) return op == OpKind::ReduceOther ? elementwise(v, e) : v;
  if (linear.contains(calleeName(e)) && (v.kind == Kind::Sum || (v.kind == Kind::Mean && !v.thin))) return v;
  if (v.kind == Kind::Mean && v.thin && op != OpKind::ReduceMean) return Value::unknown(e, kMayBeFlat);
  // loss.max(): of one number, it is that number.
  const auto isLoss = [&](const Expr* made) { return calleeOf(made) && dialect_.is(strip(made), Role::Loss) && eval(made).kind != Kind::Sharded; };
  const bool whole = (op == OpKind::ReduceMax || op == OpKind::ReduceMin) && objectOf(e) && argumentsOf(e).empty();
  if (whole && (ranks_.exactly(objectOf(e)) == 0 || llvm::all_of(definitions_.origins(objectOf(e)), isLoss))) return v;
  const bool extremum = v.kind == Kind::Max || v.kind == Kind::Min;
  const bool fits = op == OpKind::ReduceSum || op == OpKind::ReduceMean ? !extremum : op == OpKind::ReduceMax ? v.kind == Kind::Max : op == OpKind::ReduceMin && v.kind == Kind::Min;
  return fits ? v : elementwise(v, e);
}

Value Kinds::evalReduction(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const auto dim = alongOf(e, entry);
  const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
  Value with(Kind::Uniform);
  for (const Expr* a : arguments) with = join(with, eval(a));
  if (v.isUniform() && with.dependsOnSamples() && calleeName(e).ends_with("_")) return changedInPlace(e, with);
  if (v.kind == Kind::None && with.kind == Kind::Sharded && !settled_) return v;
  if (v.kind != Kind::Sharded) {
    const Value again = reducedAgain(v, entry.op, e);
    // errors.mean(0).max(), to be shown: of the whole batch's means.
    const bool first = again.kind == Kind::Unknown && isNumberOfBatch(v) && (!v.graded || withoutGradients(e) || gradedRows_) && !v.carried && isTensor(e->getType());
    return first ? reducedFirst(e, v, objectOf(e) ? objectOf(e) : arguments[0]) : again;
  }
  // Means of means are means, whether of samples or not.
  const bool either = v.flat && entry.op == OpKind::ReduceMean;
  if (dimGiven && dim == -1 && v.thin && !either && ranks_.atLeast(objectOf(e) ? objectOf(e) : arguments[0]) < 2) return Value::unknown(e, kMayBeFlat);
  if (dimGiven && !dim && entry.op != OpKind::ReduceOther) return Value::unknown(e, "the dimension is not a constant");
  if (dimGiven && dim && *dim != 0 && !(*dim == -1 && v.flat)) {
    Value rows = v;
    loseDimension(rows, objectOf(e) ? objectOf(e) : arguments[0]);
    return rows;
  }
  if (calleeName(e) == "masked_select" && with.kind == Kind::Sharded) {  // by a mask of this rank's rows
    Value some = v.after(v, with);
    some.selected = some.joined = some.flat = true;
    some.mask = argumentsOf(e).back();
    return some;
  }
  switch (entry.op) {
    case OpKind::ReduceSum: return Value(Kind::Sum).after(v, v);
    case OpKind::ReduceMean: {
      Value mean = v.selected ? reduced(v, e, objectOf(e) ? objectOf(e) : arguments[0]) : Value(Kind::Mean).after(v, v);
      mean.thin = mean.kind == Kind::Mean && dimGiven && dim == -1 && v.thin;
      return mean;
    }
    case OpKind::ReduceMax: return Value(Kind::Max).after(v, v);
    case OpKind::ReduceMin: return Value(Kind::Min).after(v, v);
    default: return ofAllRows(e, v);
  }
}

// `advantages.std()`: of the rows of all ranks. No gradient may flow through them.
Value Kinds::ofAllRows(const Expr* e, const Value& v) {
  static const llvm::StringSet<> numbers = {"std", "var", "std_mean", "var_mean", "norm", "median", "prod", "logsumexp", "histc", "bincount"};
  const Expr* rows = objectOf(e) ? objectOf(e) : argumentsOf(e)[0];
  if (calleeName(e) == "nonzero" && !v.joined && (v.flat || ranks_.exactly(rows) == 1)) return positionsIn(rows, e);
  const bool known = numbers.contains(calleeName(e)) && isTensor(rows->getType()) && batches_.inStep(e) > 0 && !isPutOff(code_.functionOf(e));
  const bool gradients = v.graded && !withoutGradients(e);
  if (!known || (gradients && !gradedRows_) || v.carried || v.earlier || v.joined || (gradients && v.selected)) return Value::unknown(e, "what it computes over the samples does not combine over ranks");
  if (recording_) reductions_[rows] = v;
  return gradients ? coupled(v) : Value(Kind::Uniform);
}

}  // namespace hvdize
