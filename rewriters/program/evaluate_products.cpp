// SPDX-License-Identifier: Apache-2.0
// Kinds of products of tensors: of matrices, and of sums over letters (Einstein's convention).
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// `einsum("bhqd,bhkd->bhqk", {q, k})`: where the letter of the samples comes first everywhere, each sample's product is its own.
Value Kinds::evalContraction(const Expr* e) {
  const auto arguments = argumentsOf(e);
  const auto tensors = arguments.size() > 1 ? extentsOf(arguments[1]) : std::nullopt;
  const auto form = arguments.empty() ? std::nullopt : contractionOf(arguments[0]);
  llvm::SmallVector<Value, 4> values;
  if (tensors)
    for (const Expr* t : *tensors) values.push_back(eval(t));
  else if (arguments.size() > 1) values.push_back(eval(arguments[1]));
  if (!settled_ && llvm::any_of(values, [](const Value& v) { return v.kind == Kind::None; })) return {};
  if (llvm::none_of(values, [](const Value& v) { return v.dependsOnSamples() || v.kind == Kind::RankLocal; })) return Kind::Uniform;
  if (!form || !tensors || form->operands.size() != values.size()) return Value::unknown(e, "its equation or its operands are not written out here");
  char samples = 0;
  Value all;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (values[i].isUniform()) continue;
    const std::string& letters = form->operands[i];
    if (values[i].kind != Kind::Sharded) return values[i].kind == Kind::Unknown ? values[i] : Value::unknown(e, "a product of a value of the batch");
    if (letters.empty() || (samples && samples != letters[0])) return Value::unknown(e, "samples of the batch are multiplied with each other");
    samples = letters[0];
    all = all.kind == Kind::None ? values[i] : elementwise(all, values[i], e);
  }
  const auto stands = [&](llvm::StringRef letters) { return letters.count(samples); };
  for (unsigned i = 0; i < values.size(); ++i)
    if (stands(form->operands[i]) != (values[i].isUniform() ? 0u : 1u)) return Value::unknown(e, "samples of the batch are multiplied with what all ranks have alike");
  if (all.kind != Kind::Sharded) return all;
  if (stands(form->result) == 0) {
    if (all.selected) return reduced(all, e);
    Value sum = Value(Kind::Sum).after(all, all);
    sum.graded = true;
    return sum;
  }
  if (stands(form->result) > 1 || form->result[0] != samples) return Value::unknown(e, "the samples run along another dimension of the product");
  all.flat = form->result.size() == 1;
  all.thin = false;
  all.graded = true;  // a factor may be a parameter
  return all;
}

// `one_hot.t().mm(x)`: matrices whose rows are the samples, the first one turned. The product adds up over them. With three dimensions on the right it would
// add up over another one.
std::optional<Value> Kinds::sumByProduct(const Expr* e, const Expr* left, const Value& turned, const Expr* right) {
  const Value rows = eval(right);
  if (!settled_ && rows.kind == Kind::None) return Value();
  if (turned.kind != Kind::Second || rows.kind != Kind::Sharded) return std::nullopt;
  const Expr* made = strip(left);
  const bool flatLeft = (calleeOf(made) && dialect_.lookup(made) && calleeName(made) == "t") || ranks_.exactly(left) == 2;
  const int dimensions = ranks_.exactly(right);
  if (calleeName(e) != "mm" && !(flatLeft && (dimensions == 1 || dimensions == 2))) return std::nullopt;
  Value first = turned;
  first.kind = Kind::Sharded;
  first.deep = first.single = false;
  const Value all = elementwise(first, rows, e);
  if (all.kind != Kind::Sharded) return all;
  if (all.selected) return reduced(all, e);
  Value sum = Value(Kind::Sum).after(all, all);
  sum.graded = true;  // a factor may be made from parameters
  return sum;
}

// addmm(bias, x, weight): what a linear layer computes.
Value Kinds::evalAddedProduct(const Expr* e) {
  llvm::SmallVector<const Expr*, 4> operands;
  if (objectOf(e)) operands.push_back(objectOf(e));
  for (const Expr* a : argumentsOf(e)) operands.push_back(a);
  if (operands.size() < 3) return Value::unknown(e, "its operands are not written out here");
  const Value added = eval(operands[0]), rows = eval(operands[1]), factor = eval(operands[2]);
  for (size_t i = 3; i < operands.size(); ++i) eval(operands[i]);
  if (!settled_ && (added.kind == Kind::None || rows.kind == Kind::None || factor.kind == Kind::None)) return {};
  if (factor.dependsOnSamples()) return Value::unknown(e, "samples of the batch are multiplied with each other");
  if (rows.isUniform() && added.isUniform()) return Kind::Uniform;
  if (rows.kind != Kind::Sharded) return Value::unknown(e, "a product of a value of the batch");
  Value sum = elementwise(rows, added, e);
  sum.flat = sum.thin = false;
  sum.graded = true;
  return sum;
}

// `arange(q.size(0))` as the first index, or `arange(batch_size)` written there: the number of each of this rank's rows.
bool Kinds::numbersRows(const Expr* index) {
  const auto made = definitions_.origins(index);
  const Expr* e = made.size() == 1 ? strip(made[0]) : nullptr;
  while (const auto* k = dyn_cast_or_null<CXXConstructExpr>(e)) e = argumentsOf(k).size() == 1 ? strip(argumentsOf(k)[0]) : nullptr;
  if (!e || calleeName(e) != "arange" || !dialect_.lookup(e)) return false;
  llvm::SmallVector<const Expr*, 3> numbers;
  for (const Expr* a : argumentsOf(e))
    if (const Expr* n = strip(a); n->getType()->isIntegerType() || dialect_.is(a->getType(), Role::Access)) numbers.push_back(n);
  for (const Expr*& n : numbers)
    while (const auto* k = dyn_cast<CXXConstructExpr>(n)) {
      if (argumentsOf(k).size() != 1) return false;
      n = strip(argumentsOf(k)[0]);
    }
  if (numbers.size() == 2 && eval(numbers[0]).kind == Kind::Zero) numbers.erase(numbers.begin());
  if (numbers.size() != 1) return false;
  if (eval(numbers[0]).kind == Kind::Rows) return true;
  const bool size = eval(numbers[0]).kind == Kind::BatchSize && isWithin(code_, numbers[0], index);
  if (size && recording_) localSizes_.insert(numbers[0]);
  return size;
}

}  // namespace hvdize
