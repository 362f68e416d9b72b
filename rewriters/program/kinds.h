// SPDX-License-Identifier: Apache-2.0
// Kinds of values: how a value that one rank holds relates to the value of the sequential program.
#pragma once

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace clang {
class Expr;
}

namespace hvdize {

/// The kind of a value, as a lattice: None below everything, Unknown above everything.
enum class Kind : std::uint8_t {
  None,       ///< no value seen yet
  Zero,       ///< the number zero, or a tensor of zeros: fits every kind that is added up
  Uniform,    ///< the same on every rank
  Whole,      ///< uniform, made by reducing a value of the batch: no gradient flows through it
  BatchSize,  ///< uniform: the size of the global batch; as an extent of a tensor it means this rank's rows
  Sharded,    ///< a tensor whose first axis runs over this rank's samples
  Second,     ///< a tensor whose second axis runs over this rank's samples: time steps or layers come first
  Shape,      ///< the extents of a tensor whose first one is this rank's rows
  Rows,       ///< a count proportional to the number of this rank's samples
  Mean,       ///< a mean over this rank's samples
  Sum,        ///< a sum over this rank's samples
  Max,        ///< the largest over this rank's samples
  Min,        ///< the smallest over this rank's samples
  CountMean,  ///< a mean over counted terms of this rank's samples (`Value::count` says which)
  RankLocal,  ///< differs between ranks for reasons other than samples: clocks, files, entropy
  Unknown,    ///< depends on samples in a way that cannot be combined over ranks
};

/// How the expression that a mean over counted terms refers to says their number.
enum class Counts : std::uint8_t {
  Divisor,   ///< it is the number that the sum was divided by
  Loss,      ///< it is the call of a loss, whose targets and options say it
  Elements,  ///< it is a tensor: as many as it has elements
  Mask,      ///< it is a mask: as often as it holds
};

/// What the parts of a result behind the first one are.
enum class Also : std::uint8_t {
  Same,    ///< of the kind of the first
  States,  ///< the states of a recurrent layer: layers first, then samples
  Rows,    ///< tensors with one row per sample
};

/// A kind with what is needed to explain it.
struct Value {
  Kind kind = Kind::None;
  /// For Unknown and RankLocal: the expression where the fact arose, and why, in words.
  const clang::Expr* origin = nullptr;
  const char* why = nullptr;
  /// For CountMean: the expression that says how many terms it has on this rank, and how.
  const clang::Expr* count = nullptr;
  Counts counts = Counts::Divisor;
  /// For CountMean: the expression that forms the mean, the loss call or the quotient.
  const clang::Expr* formed = nullptr;
  /// For Sharded, Rows and Shape: the rows are those of several tensors, one behind another, and not in the order of the batch.
  bool joined = false;
  /// With `joined`: how many tensors, each with all rows of this rank; 0 where that is not known.
  int pieces = 0;
  /// For Sharded: only some of the rows, as a mask selects them; the ranks' numbers of them are in no relation to the numbers of samples.
  bool selected = false;
  /// With `selected`: the mask, a truth value for each sample or for each number of a sample; null where none has been seen yet. For Unknown: it is a list of
  /// positions among this rank's samples, those of what holds in the mask.
  const clang::Expr* mask = nullptr;
  bool severalMasks = false;  ///< with `selected`: `mask` is not the only one that it may be
  /// For Sharded: one number for each sample, as far as can be seen; the last dimension is then the first.
  bool flat = false;
  /// For Sharded: whether it is flat is not to be seen: the targets of a loader, say, may be one number for each sample. With `flat`: it is taken
  /// for flat where nothing speaks against that. For Mean: it was taken along the last dimension of such a tensor, and may be one of each sample still;
  /// the one number that a loss is, or a mean of it, is the same mean in both cases.
  bool thin = false;
  /// For Sharded: a list with one entry for each sample, `std::vector<Example>`: its entries are items.
  bool listed = false;
  /// For Unknown: one of this rank's samples, without the dimension that runs over them; a list of all of them is known again.
  bool item = false;
  /// For Second: it has at least three dimensions, so the last one is not that of the samples.
  bool deep = false;
  /// For Second: the dimension in front of the samples has one item.
  bool single = false;
  /// For a tuple: what its further parts are.
  Also also = Also::Same;
  /// For Unknown: alternatives of different kinds, `loss = loss.mean()`; at one place it may be one of them.
  bool mixed = false;
  bool oneState = false;  ///< for a tuple with states: they are of one layer
  /// The power of the size of the global batch that it was multiplied by: -1 after a division. A sum that was divided by it does not grow
  /// with the batch, a mean that was multiplied does.
  int power = 0;
  /// For a number that all ranks have alike: it counts steps. Divided by another such number, which follows the size of the batch, it says how far
  /// training has come, and does not.
  bool steps = false;
  /// Holds values of earlier steps, which were combined over ranks: no gradient flows through those.
  bool carried = false;
  /// For what depends on samples: on those of an earlier step alone, which had a slice of its own.
  bool earlier = false;
  /// A gradient may flow through it to parameters: a layer made it, as far as can be seen.
  bool graded = false;
  /// Holds a quotient whose divisor is graded. As a number it combines; its gradient does not.
  bool gradedDivisor = false;
  /// Made with a number of the whole batch through which gradients flow to the samples of all ranks (a batch norm by hand). The losses of the ranks must
  /// then count as parts of one mean.
  bool coupled = false;

  Value() = default;
  Value(Kind k) : kind(k) {}  // NOLINT(google-explicit-constructor): a kind is a value without an explanation
  static Value unknown(const clang::Expr* where, const char* why);
  static Value rankLocal(const clang::Expr* where, const char* why);

  bool isUniform() const {
    return kind == Kind::None || kind == Kind::Zero || kind == Kind::Uniform || kind == Kind::Whole || kind == Kind::BatchSize;
  }
  /// Depends on which samples this rank has.
  bool dependsOnSamples() const { return !isUniform() && kind != Kind::RankLocal; }
  bool operator==(const Value& o) const {
    return kind == o.kind && count == o.count && joined == o.joined && pieces == o.pieces && selected == o.selected && mask == o.mask && severalMasks == o.severalMasks && flat == o.flat && thin == o.thin && deep == o.deep && listed == o.listed && item == o.item && single == o.single && also == o.also && oneState == o.oneState && carried == o.carried && earlier == o.earlier && power == o.power && steps == o.steps &&
           mixed == o.mixed && graded == o.graded && gradedDivisor == o.gradedDivisor && coupled == o.coupled;
  }
  /// Does its gradient grow with the size of the batch?
  bool growsWithBatch() const { return (kind == Kind::Sum ? 1 : 0) + power > 0; }
  /// The same value, with what `a` and `b` say about their history.
  Value after(const Value& a, const Value& b) const;
};

/// The power of the size of the batch that a number has; of that size itself, one.
int powerOf(const Value& v);
/// Does a function of numbers follow the size of the batch as its argument does, at least nearly?
bool keepsPower(llvm::StringRef function);
/// Alternatives: a variable that is assigned from several places.
Value join(const Value& a, const Value& b);
/// One of this rank's samples, read at `where`.
Value itemOf(const clang::Expr* where);
/// a + b, a - b (of numbers or tensors).
Value addValues(const Value& a, const Value& b, const clang::Expr* where);
/// a * b.
Value multiplyValues(const Value& a, const Value& b, const clang::Expr* where);
/// a / b; `divisor` is the expression of b.
Value divideValues(const Value& a, const Value& b, const clang::Expr* divisor, const clang::Expr* where);
/// A function applied to each element, linear or not; for comparisons too.
Value elementwise(const Value& a, const clang::Expr* where);
Value elementwise(const Value& a, const Value& b, const clang::Expr* where);

const char* kindName(Kind k);

}  // namespace hvdize
