// SPDX-License-Identifier: Apache-2.0
// Kinds of what tensor operations return.
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/selected.h"

using namespace clang;

namespace hvdize {

namespace {

enum class Arithmetic { None, Add, Multiply, Divide, Keep, Negate };

Arithmetic arithmeticOf(const Expr* e) {
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) {
    switch (o->getOperator()) {
      case OO_Plus: case OO_PlusEqual: return Arithmetic::Add;
      case OO_Minus: return o->getNumArgs() == 1 ? Arithmetic::Negate : Arithmetic::Add;
      case OO_MinusEqual: return Arithmetic::Add;
      case OO_Star: case OO_StarEqual: return Arithmetic::Multiply;
      case OO_Slash: case OO_SlashEqual: return Arithmetic::Divide;
      case OO_Equal: return Arithmetic::Keep;
      default: return Arithmetic::None;
    }
  }
  const FunctionDecl* f = calleeOf(e);
  if (!f || !f->getDeclName().isIdentifier()) return Arithmetic::None;
  return llvm::StringSwitch<Arithmetic>(f->getName())
      .Cases("add", "sub", "add_", "sub_", Arithmetic::Add)
      .Cases("mul", "mul_", Arithmetic::Multiply)
      .Cases("div", "div_", Arithmetic::Divide)
      .Case("neg", Arithmetic::Negate)
      .Cases("to", "cpu", "clone", "detach", "detach_", "contiguous", "requires_grad_", "copy_", Arithmetic::Keep)
      .Default(Arithmetic::None);
}

}  // namespace

// g.detach(), g.to(device): the same numbers.
bool Kinds::keepsTensor(const Expr* e) const {
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  return entry && entry->role == Role::Op && entry->op == OpKind::Elementwise && arithmeticOf(e) == Arithmetic::Keep && objectOf(e) && !isa<CXXOperatorCallExpr>(e) &&
         calleeName(e) != "copy_";
}

// The number of rows of the whole batch.
static Value sizeOfBatch() {
  Value size(Kind::Uniform);
  size.power = 1;
  return size;
}

Value Kinds::evalArithmetic(const Expr* e, const Entry&, const Value& self) {
  std::vector<Value> operands;
  std::vector<const Expr*> spelled;
  if (comparesShapes(e)) return Kind::Uniform;
  if (const Expr* object = objectOf(e)) operands.push_back(self), spelled.push_back(object);
  for (const Expr* a : argumentsOf(e)) operands.push_back(eval(a)), spelled.push_back(a);
  if (operands.empty()) return Kind::Uniform;
  if (recording_) steersModel(e, operands, spelled);
  const Arithmetic op = arithmeticOf(e);
  if (op == Arithmetic::Keep) {
    // The object's kind; for an assignment the operand's.
    if (operands.size() >= 2 && calleeOf(e)->getDeclName().isIdentifier() && calleeOf(e)->getName() == "copy_") return operands[1];
    const bool assigns = isa<CXXOperatorCallExpr>(e) || operands.size() == 1;
    return assigns ? operands.back() : operands.front();
  }
  if (op == Arithmetic::Negate) {
    Value v = operands[0];
    if (v.kind == Kind::Max) v.kind = Kind::Min;
    else if (v.kind == Kind::Min) v.kind = Kind::Max;
    return v;
  }
  if (llvm::all_of(operands, [](const Value& v) { return v.kind == Kind::Shape; })) return Kind::Uniform;  // are two shapes equal?
  const bool function = operands.size() < 2 || op == Arithmetic::None;
  // `(loss > 50).item<bool>()`: whether it is larger has no derivative.
  if (stopsGradient(e) || withoutGradients(e))
    for (Value& v : operands) v.graded = v.graded && !isNumberOfBatch(v);
  if (function && operands.size() == 1 && isNumberOfBatch(operands[0])) return reducedFirst(e, operands[0], spelled[0]);
  // What has not been looked at yet may become anything: made with it too early, the result would be of the wrong kind, and stay so.
  for (size_t i = 0; !settled_ && i < operands.size(); ++i)
    if (operands[i].kind == Kind::None && (isTensor(spelled[i]->getType()) || spelled[i]->getType()->isArithmeticType())) return Kind::None;
  return withNumbers(e, function ? Growth::None : op == Arithmetic::Add ? Growth::Alike : Growth::Any, operands, spelled, [&](llvm::ArrayRef<Value> of) {
    if (!function && op == Arithmetic::Add) return evalAddition(e, of, spelled);
    // mean * x.size(0), where the mean has been made whole before: so is the number of rows.
    for (unsigned i : {0u, 1u})
      if (const bool rows = !function && op == Arithmetic::Multiply && of[i].kind == Kind::Rows && !isTensor(spelled[i]->getType()); rows && of[1 - i].isUniform() && of[1 - i].kind != Kind::None && !of[1 - i].graded && batches_.inStep(e) > 0)
        return multiplyValues(of[1 - i], host(spelled[i]), e);
    if (!function && op == Arithmetic::Multiply) return provenPower(multiplyValues(of[0], of[1], e), of, spelled);
    if (!function && op == Arithmetic::Divide && of[0].kind == Kind::Sum && of[1].dependsOnSamples() && sumsByColumn(spelled[1]))
      return Value::unknown(e, "sums of columns are divided by sums of columns: such quotients of one rank's samples do not combine");
    // w -= rate * w.grad() / x.size(0), x.size(0) / counts: what all ranks have alike meets the rows of all of them.
    for (unsigned i : {0u, 1u})
      if (!function && op == Arithmetic::Divide && of[1 - i].isUniform() && of[1 - i].kind != Kind::None && of[i].kind == Kind::Rows && batches_.inStep(e) > 0 && (i == 1 || (isTensor(spelled[1]->getType()) && !isTensor(spelled[0]->getType()))))
        return i == 1 ? divideValues(of[0], host(spelled[1]), spelled[1], e) : divideValues(host(spelled[0]), of[1], spelled[1], e);
    rowsMeet_ = rowsMeet_ || (recording_ && !function && op == Arithmetic::Divide && of[0].kind == Kind::Sum && of[1].dependsOnSamples());
    if (!function && op == Arithmetic::Divide) return provenPower(formedMean(divideValues(of[0], of[1], spelled[1], e)), of, spelled);
    Value v = elementwise(of[0], e);
    for (size_t i = 1; i < of.size(); ++i) v = elementwise(v, of[i], e);
    return v;
  });
}

// hot.sum(0): the sum of each column.
bool Kinds::sumsByColumn(const Expr* divisor) {
  bool yes = false;
  for (const Expr* o : definitions_.origins(divisor))
    forEachExpr(o, [&](const Expr* x) {
      const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
      if (yes || !entry || entry->role != Role::Op || entry->op != OpKind::ReduceSum || entry->dim < 0 || entry->dim >= static_cast<int>(argumentsOf(x).size())) return;
      const Expr* summed = objectOf(x) ? objectOf(x) : argumentsOf(x)[0];
      const Value rows = eval(summed);
      yes = rows.kind == Kind::Sharded && (!rows.flat || rows.thin) && alongOf(x, *entry) == 0;
    });
  return yes;
}

// One number for each sample is left when this tensor loses its other dimension.
bool Kinds::mayBeFlat(const Expr* reduced) const { return !reduced || ranks_.atLeast(reduced) < 3; }

// One dimension of `reduced` goes: of two, one number for each sample is left; of a number of dimensions that is not known, perhaps.
void Kinds::loseDimension(Value& rows, const Expr* reduced) const {
  if (rows.flat) return;
  rows.flat = mayBeFlat(reduced);
  rows.thin = rows.flat && (!reduced || ranks_.exactly(reduced) != 2);
}

Value Kinds::evalReshape(const Expr* e, const Entry& entry, const Value& object) {
  Value v = evalMoved(e, entry, object);
  if (v.kind != Kind::Sharded) return reshapedPositions(e, v);
  const bool thin = v.thin;
  v.thin = false;
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  if (entry.shape >= 0 && entry.order == 0 && entry.shape < static_cast<int>(arguments.size())) {
    const auto list = extentsOf(arguments[entry.shape]);
    v.flat = list && list->size() == 1;
  } else if (name.starts_with("squeeze")) {
    const bool flat = v.flat;
    loseDimension(v, objectOf(e) ? objectOf(e) : arguments[0]);
    v.thin = (flat && thin) || (thin && !v.flat) || (!flat && v.thin);
  } else if (name == "flatten") {
    v.flat = v.flat || (dimensionOf(e, entry, code_.context()).value_or(1) == 0 && static_cast<int>(arguments.size()) <= entry.dim + 1);
  } else {
    v.flat = false;
  }
  return v;
}

// x.unsqueeze(-2), x.transpose(-3, -2), x.movedim(1, -1): does it move the samples, or may it, as far as is known?
const char* Kinds::mayMoveFirst(const Expr* e, const Entry& entry, const Value& v) const {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const Expr* tensor = objectOf(e) ? objectOf(e) : arguments[0];
  const int rank = ranks_.atLeast(tensor);
  const auto given = [&](int i) -> std::optional<int> {
    Entry one = entry;
    one.dim = i;
    one.defaultDim = std::nullopt;
    return dimensionOf(e, one, code_.context());
  };
  constexpr const char* kDepends = "whether the samples are moved depends on how many dimensions the tensor has, which is not known here (count them from the front)";
  if (name.starts_with("unsqueeze")) {  // into what has one dimension more
    const auto at = given(entry.dim);
    const bool two = rank >= 2 || (!v.flat && !v.thin);
    return at && *at < -1 && rank < -*at && !(*at == -2 && two) ? kDepends : nullptr;
  }
  const bool moves = name.starts_with("move");
  if (!moves && !name.starts_with("transpose") && !name.starts_with("swap")) return nullptr;
  const auto a = given(entry.dim), b = given(entry.dim + 1);
  if (!a || !b) return "the dimensions that are moved are not constants";
  if (*a == 0 || *b == 0) return "the first dimension, which runs over the samples, is moved";
  for (const int d : {*a, *b}) {
    if (d > 0 || rank > -d) continue;
    if (d == -1 && !v.flat && (!v.thin || std::max(*a, *b) > 0)) continue;
    if (std::min(*a, *b) == -2 && std::max(*a, *b) == -1 && !v.flat) continue;  // matrices of each sample
    return kDepends;
  }
  return nullptr;
}

Value Kinds::evalMoved(const Expr* e, const Entry& entry, const Value& object) {
  const auto arguments = argumentsOf(e);
  const Value v = !objectOf(e) && !arguments.empty() ? eval(arguments[0]) : object;
  for (const Expr* a : arguments) eval(a);
  if (const auto second = v.kind == Kind::Sharded ? toSecond(e, entry, v) : std::nullopt) return *second;
  if (v.isUniform()) return evalWholeReshape(e, entry, v);
  if (v.kind != Kind::Sharded) return v;
  if (entry.shape >= 0 && entry.shape < static_cast<int>(arguments.size())) {
    const auto list = extentsOf(arguments[entry.shape]);
    if (entry.order > 0) return evalOrder(e, entry, v, list ? llvm::ArrayRef<const Expr*>(*list) : llvm::ArrayRef<const Expr*>());
    const Expr* first = list && !list->empty() ? list->front() : nullptr;
    if (!first) return eval(arguments[entry.shape]).kind == Kind::Shape || beginsWithRows(arguments[entry.shape]) ? v : Value::unknown(e, "the shape is not written out here");
    const Value extent = eval(first);
    if (extent.kind == Kind::None && !settled_) return {};  // a parameter whose callers come later
    if (extent.kind == Kind::Rows) return v;
    if (const Expr* size = sizeIn(first)) {
      if (recording_) localSizes_.insert(size);
      return v;
    }
    const Expr* literal = strip(first);
    if (const auto* minus = dyn_cast<UnaryOperator>(literal); minus && minus->getOpcode() == UO_Minus)
      return foldsSamples(objectOf(e) ? objectOf(e) : arguments[0], *list) ? Value::unknown(e, "it puts several samples into one row") : v;
    if (!isSizeOfBatches(literal)) return Value::unknown(e, "the shape fixes the number of rows");
    if (recording_) localSizes_.insert(first), sizesWrittenAgain_.insert(first);
    return v;
  }
  if (entry.dim >= 0) {
    const auto dim = alongOf(e, entry);
    const llvm::StringRef name = calleeName(e);
    if (recording_ && (name == "squeeze" || name == "squeeze_") && batches_.inStep(e) > 0 && static_cast<int>(arguments.size()) <= entry.dim) squeezes_.insert(e);
    if (dim && *dim == 0 && name == "flatten") return v;  // every sample becomes as many rows as every other, and they stay in order
    if (dim && *dim == 0 && name.starts_with("unsqueeze"))
      return Value::unknown(e, "a dimension is put in front of the samples (a single sample at a time has nothing to share out)");
    if (dim && *dim == 0) return Value::unknown(e, "the first dimension, which runs over the samples, is folded into another");
    if (const char* why = mayMoveFirst(e, entry, v)) return Value::unknown(e, why);
    // A transposition has a second dimension.
    Entry second = entry;
    second.dim = entry.dim + 1;
    second.defaultDim = std::nullopt;
    const auto other = alongOf(e, second);
    if (calleeOf(e)->getNumParams() > static_cast<unsigned>(second.dim) && other && *other == 0 &&
        calleeOf(e)->getDeclName().isIdentifier() && calleeOf(e)->getName().starts_with("transpose"))
      return Value::unknown(e, "the first dimension, which runs over the samples, is moved");
    return v;
  }
  if (entry.like >= 0 && entry.like < static_cast<int>(arguments.size()) && eval(arguments[entry.like]).kind == Kind::Sharded) return v;
  return Value::unknown(e, "the first dimension, which runs over the samples, may be moved");
}

// What all ranks have alike, in a shape with the rows of a batch: `table.expand({n, 5})`, or numbers made for the whole batch, seen as its rows.
Value Kinds::evalWholeReshape(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const auto given = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()); };
  const bool repeats = name.starts_with("expand");
  if (repeats && given(entry.like) && eval(arguments[entry.like]).kind == Kind::Sharded) return Kind::Sharded;
  const auto list = given(entry.shape) && entry.order == 0 ? extentsOf(arguments[entry.shape]) : std::nullopt;
  const Expr* first = list && !list->empty() ? list->front() : given(entry.shape) && entry.order == 0 ? arguments[entry.shape] : nullptr;
  if (!first || batches_.inStep(e) == 0) return v;
  const Value rows = eval(first);
  if (rows.kind != Kind::Rows && rows.kind != Kind::BatchSize && rows.kind != Kind::Shape) return v;
  if (repeats) {
    if (recording_ && rows.kind == Kind::BatchSize) localSizes_.insert(first);
    return Value(Kind::Sharded).after(rows, rows);
  }
  if (rows.joined) return Value::unknown(e, "it has the rows of several tensors, one behind another: the ranks' rows do not line up to those of the batch");
  if (recording_) {
    wholeDraws_.insert(e);
    if (rows.kind != Kind::BatchSize) rowCounts_.insert(first);
  }
  return Kind::Sharded;
}

// permute: the first dimension stays first. repeat: it is repeated once.
Value Kinds::evalOrder(const Expr* e, const Entry& entry, const Value& v, llvm::ArrayRef<const Expr*> list) {
  Expr::EvalResult r;
  const int wanted = entry.order == 2 ? 1 : 0;
  if (!list.empty() && list.front()->EvaluateAsInt(r, code_.context()) && r.Val.getInt() == wanted) return v;
  return Value::unknown(e, "the first dimension, which runs over the samples, may be moved or repeated");
}

// Rows of a table, by a list of positions: each is a vector where the table has two dimensions, though the positions are numbers.
Value Kinds::rowsOf(const Expr* table, Value taken) const {
  if (table && ranks_.atLeast(table) >= 2) taken.flat = taken.thin = false;
  return taken;
}

// x.index({i, j}): what the first index does with the first dimension.
Value Kinds::evalIndexed(const Expr* e, const Entry& entry, const Value& v) {
  const auto arguments = argumentsOf(e);
  const auto list = entry.index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry.index]) : std::nullopt;
  if (!list || list->empty()) {
    // table.take(labels), table.index(chosen): a row, or a number, for each sample.
    const Value at = entry.index < static_cast<int>(arguments.size()) ? eval(arguments[entry.index]) : Value();
    if (v.isUniform() && (at.isUniform() || at.kind == Kind::Sharded)) return Value(at.kind == Kind::Sharded ? Kind::Sharded : Kind::Uniform).after(v, at);
    return Value::unknown(e, "the indices are not written out here");
  }
  Value with(Kind::Uniform);
  const bool numbered = list->size() == 2 && (v.kind == Kind::Sharded || v.kind == Kind::None) && numbersRows(list->front());
  for (const Expr* i : *list) with = numbered && i == list->front() ? with : join(with, eval(i));
  if (v.kind == Kind::None && with.kind == Kind::Sharded && !settled_) return v;
  if (v.isUniform()) {
    const Value taken = Value(with.kind == Kind::Sharded ? Kind::Sharded : Kind::Uniform).after(v, with);
    return list->size() == 1 ? rowsOf(objectOf(e), taken) : taken;
  }
  const Expr* first = strip(list->front());
  if (keepsFirstDimension(first)) {
    Value part = v;
    if (list->size() > 1 && strip(list->back())->getType()->isIntegerType()) loseDimension(part, objectOf(e));
    for (const Expr* x : *list)  // None: one dimension more
      if (const CXXRecordDecl* r = strip(x)->getType()->getAsCXXRecordDecl(); r && r->getName() == "nullopt_t") part.flat = part.thin = false;
    return part;
  }
  if (numbered) {  // q.index({arange(n), actions})
    const Value at = eval((*list)[1]);
    if (!at.isUniform() && at.kind != Kind::Sharded) return Value::unknown(e, "what it takes depends on samples that run along another dimension");
    Value part = v.after(v, at);
    if (!(part.flat = v.flat)) loseDimension(part, objectOf(e));
    return part;
  }
  if (v.kind == Kind::Sharded && !settled_ && eval(first).kind == Kind::None) return {};  // a mask whose kind a later round knows
  if (list->size() == 1 && mixesRows(e, v, first)) return v;
  const bool drawn = llvm::any_of(definitions_.origins(first), [&](const Expr* o) { return dialect_.is(strip(o), Role::RandomDraw); });
  if (v.kind == Kind::Sharded && drawn) return Value::unknown(e, "single samples of the batch are read");
  if (const auto some = selectedBy(first, v, false)) return *some;
  return v.kind == Kind::Sharded ? Value::unknown(e, "single samples of the batch are read") : v;
}

// Along the first dimension rows are joined: all of them must be this rank's. A stack makes a new first dimension.
Value Kinds::evalOpOfKind(const Expr* e, const Entry& entry, const Value& self) {
  const auto arguments = argumentsOf(e);
  const Value v = self.kind == Kind::None && !objectOf(e) && !arguments.empty() && entry.op != OpKind::Factory ? eval(arguments[0]) : self;
  const auto dim = entry.op == OpKind::Size ? dimensionOf(e, entry, code_.context()) : alongOf(e, entry);
  const bool dimGiven = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size());
  if (v.kind == Kind::Second) return evalSecond(e, entry, v);
  switch (entry.op) {
    case OpKind::Elementwise:
      if (v.kind == Kind::Unknown)
        if (const auto signs = evalSigns(e, objectOf(e) ? objectOf(e) : arguments.empty() ? nullptr : arguments[0])) return *signs;
      return calleeName(e) == "repeat_interleave" ? evalRepeated(e, v) : evalArithmetic(e, entry, self);
    case OpKind::Assign: return evalAssignment(e, entry, self);
    case OpKind::Scatter: return evalScatter(e, entry, self);
    case OpKind::Rowwise: return evalRowwise(e, entry, v);
    case OpKind::ReduceSum:
    case OpKind::ReduceMean:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceOther: return evalReduction(e, entry, v);
    case OpKind::Reshape: return evalReshape(e, entry, self);
    case OpKind::Select: {
      if (entry.index >= 0) return evalIndexed(e, entry, v);
      Value with(Kind::Uniform);
      for (const Expr* a : arguments) with = join(with, eval(a));
      if (dim.value_or(0) == 0 && mixesRows(e, v, arguments.empty() ? nullptr : arguments.back())) return v;
      if (const auto some = dim.value_or(0) == 0 && !arguments.empty() ? selectedBy(arguments.back(), v, true) : std::nullopt) return *some;
      if (v.kind == Kind::Sharded && dim.value_or(0) == 0) return takesPiece(e, v) ? ofOnePiece(v) : Value::unknown(e, "single samples of the batch are read");
      if (v.isUniform() && with.kind == Kind::Sharded) {
        const Value taken = Value(Kind::Sharded).after(v, with);
        return calleeName(e) == "index_select" && dim == 0 ? rowsOf(objectOf(e) ? objectOf(e) : arguments[0], taken) : taken;
      }
      if (v.isUniform() && with.kind == Kind::RankLocal) problem(e, with, "samples are chosen by what only this rank knows");
      if (const Expr* rows = v.isUniform() && batches_.inStep(e) > 0 ? firstRows(e, entry) : nullptr) {
        if (recording_) wholeDraws_.insert(e), rowCounts_.insert(rowsFactor(rows));
        return Kind::Sharded;
      }
      if (v.kind == Kind::None && !settled_) return v;
      if (v.isUniform()) return with.dependsOnSamples() ? Value::unknown(e, "what it takes depends on the samples at hand") : Value(Kind::Uniform);
      if (with.kind == Kind::Second || with.kind == Kind::Unknown) return Value::unknown(e, "what it takes depends on samples that run along another dimension");
      Value part = v;
      if (calleeOf(e)->getNameAsString() == "select") loseDimension(part, objectOf(e) ? objectOf(e) : arguments[0]);
      return part;
    }
    case OpKind::Concat: {
      if (v.kind != Kind::Sharded && v.kind != Kind::Unknown) return v;
      return entry.dim < 0 ? evalJoined(e, v) : evalConcat(e, dim, v);
    }
    case OpKind::Matmul: {
      if (calleeName(e) == "addmm") return evalAddedProduct(e);
      const Expr* second = objectOf(e) ? (arguments.empty() ? nullptr : arguments[0]) : arguments.size() > 1 ? arguments[1] : nullptr;
      const Value w = second ? eval(second) : Value(Kind::Uniform);
      // From three dimensions on a product takes the matrices of one sample at a time.
      // A vector for each sample has three when one is put in: q.unsqueeze(1).matmul(k.unsqueeze(2)).
      const auto isMatrices = [&](const Expr* x) {
        const Expr* made = strip(x);
        const Expr* of = calleeOf(made) && dialect_.lookup(made) && calleeName(made) == "unsqueeze" ? (objectOf(made) ? objectOf(made) : argumentsOf(made)[0]) : nullptr;
        const Value inner = of ? eval(of) : Value();
        return ranks_.atLeast(x) >= 3 || dimensionsOfBatch(x) >= 3 || (inner.kind == Kind::Sharded && !inner.flat && !inner.thin);
      };
      const bool perSample = v.kind == Kind::Sharded && w.kind == Kind::Sharded && isMatrices(objectOf(e) ? objectOf(e) : arguments[0]) && isMatrices(second);
      // weights of the same number of dimensions or fewer, whose leading ones are stretched: what each sample is multiplied with
      const int weights = v.isUniform() && w.kind == Kind::Sharded ? ranks_.exactly(objectOf(e) ? objectOf(e) : arguments[0]) : 0;
      if (weights > 0 && ranks_.atLeast(second) >= std::max(3, weights)) {
        Value product = w;
        product.flat = product.thin = false;
        product.graded = true;
        return product;
      }
      if (w.dependsOnSamples() && !perSample)
        return Value::unknown(e, v.isUniform() && w.kind == Kind::Sharded ? "whether the samples run along a dimension of their own, and are not added up by the product, is not known here"
                                                                          : "samples of the batch are multiplied with each other");
      if (v.kind != Kind::Sharded) return v.isUniform() ? Value(Kind::Uniform) : Value::unknown(e, "a product of a value of the batch");
      Value product = v;
      product.flat = w.isUniform() && isVector(second);
      product.thin = false;
      product.graded = true;  // the other factor may be a parameter
      return product;
    }
    case OpKind::Contraction: return evalContraction(e);
    case OpKind::BatchedMatmul: {
      Value all = v;
      for (const Expr* a : arguments) all = elementwise(all, eval(a), e);
      return all;
    }
    case OpKind::ToHost: {
      if (!v.dependsOnSamples()) return v.kind == Kind::RankLocal ? v : Value(Kind::Uniform);
      if (v.kind == Kind::Sharded) return cross(e, Value::unknown(e, "it has one item per sample, and only one is read"), "read");
      return cross(e, v, "read");
    }
    case OpKind::Size:
      for (const Expr* a : arguments) eval(a);
      if (v.kind == Kind::None && !settled_) return v;
      if (v.kind == Kind::Unknown) return v.mask && dimGiven && dim == 0 ? Value(Kind::Sum) : v;
      if (v.kind == Kind::Uniform && dimGiven && dim == 0 && objectOf(e) && (batches_.isTakenInParts(objectOf(e)) || listsPositions(objectOf(e)))) return sizeOfBatch();
      if (v.kind != Kind::Sharded) return dimGiven && dim == 0 && isOfFirstBatch(objectOf(e) ? objectOf(e) : arguments[0], 0) ? Kind::BatchSize : Kind::Uniform;
      if (v.selected) return dimGiven && dim.value_or(0) == 0 ? Value(Kind::Sum) : dimGiven ? Value(Kind::Uniform) : reduced(v, e);
      if (!dimGiven) return Value(Kind::Shape).after(v, v);
      if (const int rank = dim && *dim < 0 ? ranks_.exactly(objectOf(e) ? objectOf(e) : arguments[0]) : -1; rank > 0) return rank + *dim == 0 ? Value(Kind::Rows).after(v, v) : Value(Kind::Uniform);
      if (!dim) return Value::unknown(e, "which extent of this rank's rows this is is not known here");
      if (*dim < -1 && !alongOf(e, entry))
        return Value::unknown(e, "whether it counts the samples depends on how many dimensions the tensor has, which is not known here (count them from the front)");
      return *dim == 0 || (*dim == -1 && v.flat) ? Value(Kind::Rows).after(v, v) : Value(Kind::Uniform);
    case OpKind::ElementCount:
      if (v.kind == Kind::Rows) return Value::unknown(e, "it counts the elements of what is as long as this rank has samples");  // arange(rows).numel()
      if (v.kind == Kind::Uniform && objectOf(e) && listsPositions(objectOf(e))) return sizeOfBatch();
      return v.kind == Kind::Unknown ? (v.mask ? Value(Kind::Sum) : v) : v.kind != Kind::Sharded ? Kind::Uniform : v.selected ? Kind::Sum : Kind::Rows;
    case OpKind::DataPointer:
      if (v.dependsOnSamples() && !isRowAccessor(e)) {
        const Value memory = Value::unknown(e, "the memory of this rank's samples is read directly");
        llvm::SmallVector<const Expr*, 2> rows;
        if (computedFrom(e, rows)) return cross(e, memory, "read");
        const Expr* tensor = objectOf(e);
        if (!tensor || v.kind != Kind::Sharded || !isa<DeclRefExpr, MemberExpr>(strip(tensor)) || batches_.inStep(e) == 0) return memory;
        if (!onlyRead(e, 0)) return memory;
        if (changedWhileKept(e)) return memory;
        if (recording_) held_.insert(tensor);  // its memory must outlive this statement
        cross(tensor, v, "read");
      }
      return Kind::Uniform;
    case OpKind::Factory: {
      if (entry.shape >= 0) return evalFactory(e, entry);
      if (hasSelectedRows(e, entry)) return Value::unknown(e, kSelectedRows);
      Value like;
      for (const Expr* a : arguments) like = join(like, eval(a));
      const llvm::StringRef name = calleeName(e);
      if ((like.kind == Kind::Sharded || like.kind == Kind::Second) && name.ends_with("_like")) {
        Value filled = Value(like.kind).after(like, like);
        if (name == "full_like" && arguments.size() > 1) filled.power = powerOf(host(arguments[1]));  // 1.0 / rows for each of them
        return filled;
      }
      if (like.dependsOnSamples() && !name.ends_with("_like")) return like;
      if (!name.ends_with("_like") && holdsNumberForEachRow(e)) {
        if (recording_) wholeDraws_.insert(e);
        return Kind::Sharded;
      }
      return filledWith(e, entry);
    }
    case OpKind::Print:
      for (const Expr* a : arguments)
        if (isTensor(a->getType())) cross(a, eval(a), "printed");
        else host(a);
      return Kind::Uniform;
    case OpKind::Scale: return arguments.empty() ? Value(Kind::Uniform) : multiplyValues(eval(arguments[0]), Value(Kind::Uniform), e);
    case OpKind::ShapeOnly:
    case OpKind::None:
      for (const Expr* a : arguments) eval(a);
      return Kind::Uniform;
  }
  return Kind::Uniform;
}

Value Kinds::evalOp(const Expr* e, const Entry& entry, const Value& self) {
  if (const auto listed = evalListed(e, entry)) return *listed;
  Value v = evalOpOfKind(e, entry, self);
  if (v.isUniform() && isTakenInStep(e) && open_.insert(e).second) {
    if (meetsSamples(e)) {
      if (recording_) wholeDraws_.insert(e);
      v = Value(Kind::Sharded);
    }
    open_.erase(e);
  }
  if (v.dependsOnSamples() && v.kind != Kind::Unknown)
    for (const Expr* a : argumentsOf(e))
      if (isa<DeclRefExpr, MemberExpr>(strip(a)) && isTensor(a->getType()) && eval(a).kind == Kind::RankLocal)
        return Value::unknown(a, eval(a).why ? eval(a).why : "a tensor that differs between ranks meets one that depends on samples");
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool inPlace = (o && o->isAssignmentOp()) || calleeName(e).ends_with("_");  // the object keeps the history that it has
  const Arithmetic op = arithmeticOf(e);
  if (recording_ && (inPlace || replacesGradient(e)) && (op == Arithmetic::Divide || op == Arithmetic::Multiply) && dividesGradients(e, op == Arithmetic::Divide)) dividesGradients_ = true;
  if (stopsGradient(e) || (!inPlace && withoutGradients(e))) v.graded = v.gradedDivisor = false;
  return v;
}

}  // namespace hvdize
