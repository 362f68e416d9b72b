// SPDX-License-Identifier: Apache-2.0
//
// A dialect maps the declarations of a framework to the roles they play in training. It is read from a YAML table
// (core.yaml explains the format); nothing else in hvdize knows a framework's names.
#pragma once

#include <clang/AST/Type.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringRef.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clang {
class CXXRecordDecl;
class Decl;
class Expr;
class FunctionDecl;
class NamedDecl;
class ValueDecl;
}  // namespace clang

namespace hvdize {

enum class Role {
#define HVD_ROLE(ENUMERATOR, KEY, KEYS) ENUMERATOR,
#include "rewriters/dialects/roles.def"
#undef HVD_ROLE
};

/// What a tensor operation does to the batch axis (dimension 0 unless said otherwise).
enum class OpKind {
  None,
  Elementwise,  ///< row i of the result depends on row i of the operands only
  Rowwise,      ///< as elementwise when the argument `dim` is not the batch axis (layers: always)
  ReduceSum, ReduceMean, ReduceMax, ReduceMin,  ///< over everything, or over the dimension in argument `dim`
  ReduceOther,  ///< likewise, in a way that does not combine over ranks (norm, variance, equal)
  Reshape,      ///< argument `shape` or `dim`: keeps the batch axis when its first extent is that of the operand
  Select,       ///< select, slice, index along argument `dim` (dimension 0 when there is none)
  Concat,       ///< cat, stack along argument `dim`
  Matmul,       ///< rows of the first operand times a uniform second one
  BatchedMatmul,///< one product for each index of the first dimension
  Contraction,  ///< a product whose sums a text names, letter by letter
  ToHost,       ///< the number in a one-element tensor
  Size,         ///< extent of the dimension in argument `dim`; without one the whole shape
  ElementCount, ///< number of elements: a multiple of the number of rows
  DataPointer,
  Factory,      ///< a new tensor, the same on all ranks
  ShapeOnly,    ///< depends on type, device or number of dimensions, never on contents or extents
  Print,
  Scale,        ///< argument 0 times a number that all ranks have (the object holds it)
  Assign,       ///< changes its object from its operands, element by element (add_, copy_, +=)
  Scatter,      ///< changes its object where indices say: those in argument `index`, or those along the dimension in argument `dim`
};

/// `Closure`: the optimizer calls back for the loss, as often as it likes; the length of its steps does not hang on the size of the batch.
enum class OptimizerRule { None, Sgd, Adaptive, Closure };
enum class LossReduction { Mean, Sum, None };

/// One row of the table. Argument positions count from 0; -1 means "not said". A parameter that a role does not have keeps its
/// default.
struct Entry {
  Role role;
  OpKind op = OpKind::None;
  std::string name;              ///< qualified name, without template arguments and inline namespaces
  int params = -1;               ///< only the overloads with this number of parameters

  OptimizerRule rule = OptimizerRule::None;
  int arg = -1;                  ///< the argument that matters: rate, seed, batch size, parameters, stream, condition
  int dim = -1;                  ///< the argument that holds a dimension (or list of them)
  std::optional<int> defaultDim; ///< its value when the call leaves it out
  std::string dimOption;         ///< the setter in `options` (layer_along: in the only argument) that says the dimension
  int shape = -1;                ///< the argument that holds a shape
  int order = 0;                 ///< `shape` holds an order of dimensions (1: permute) or counts of repetitions (2: repeat)
  int like = -1;                 ///< the argument whose shape the result has
  int index = -1;                ///< the argument that holds a list of indices, one for each dimension
  int path = -1;                 ///< save, load: the file name; no_effect: that of a file which every rank reads
  int folder = -1;               ///< no_effect: the folder from which every rank reads files
  std::vector<int> targets;      ///< save: what is written; load: what is overwritten; none said: the result or the object
  int model = -1, optimizer = -1;///< arguments that hold them (step, grad_read: instead of the object)
  int templateArg = -1;          ///< make_loader: the template argument that names the sampler
  int dataset = -1, sampler = -1, options = -1;
  int input = -1, target = -1;   ///< loss: predictions and truth
  LossReduction reduction = LossReduction::Mean;  ///< loss: what it does when its options do not say
  std::string reductionOption;   ///< loss: the setter in `options` ("reduction")
  std::vector<std::string> countedOptions;  ///< loss: setters that make the mean one over counted terms
  int reductionArg = -1;         ///< loss: the argument that says it (0 none, 1 mean, 2 sum)
  std::vector<int> countedArgs;  ///< loss: arguments that make the mean one over counted terms
  std::string batchFirst;        ///< forward: the option that puts the batch axis first; "never": there is none
  std::string secondResult;      ///< forward: what stands behind the first result: states | rows
  std::vector<std::string> stateOptions;  ///< forward: the options with which there is more than one layer of state
  std::string positions;         ///< forward, loss: what is computed for itself: numbers, vectors (of the last dimension), or indices (which become vectors); sequences (loss): its input's time steps come first, then samples
  std::string carriesOption;     ///< forward: the option with which the layer keeps what it saw in its weights or buffers
  bool object = false;           ///< load: the object is what is overwritten
  std::vector<std::string> fields;          ///< batch: members that hold one item per sample
  std::string value;             ///< constants: mean | sum | none (loss reduction), train | test
  unsigned line = 0;             ///< in the YAML file
};

class Dialect {
 public:
  /// Null on an error; `*error` then holds a message that names file, line and column.
  static std::unique_ptr<Dialect> parse(llvm::StringRef yaml, llvm::StringRef fileName, std::string* error);
  /// A dialect that is compiled in ("core"), or a file (a name with a dot or a slash).
  static std::unique_ptr<Dialect> load(llvm::StringRef nameOrFile, std::string* error);
  static std::vector<std::string> builtInNames();

  llvm::StringRef name() const { return name_; }
  /// For people: "hvd training core".
  llvm::StringRef title() const { return title_; }
  llvm::ArrayRef<std::string> namespaces() const { return namespaces_; }
  /// Headers whose inclusion shows that a program is written in this dialect; the first is the usual one.
  llvm::ArrayRef<std::string> reveals() const { return reveals_; }
  /// Where those headers lie in the framework's include folder ("hvd", "torch/csrc/api/include/torch"); may be empty.
  llvm::StringRef layout() const { return layout_; }
  /// The folders in that include folder that hold the framework; empty: all of it.
  llvm::ArrayRef<std::string> folders() const { return folders_; }
  /// The header that binds the vocabulary to the framework.
  llvm::StringRef runtimeHeader() const { return runtime_; }

  /// Random numbers inside a step come from a stream of each rank's own, shuffles of a nested loop included (`step_draws: own`); else all
  /// ranks keep one stream in step, and what is drawn for a sample is keyed by it (`keyed`, the default).
  bool ownStepDraws() const { return stepDraws_ == "own"; }
  /// Gradients can be reduced by their parameters, where their optimizer has no name (`reductions: parameters`); else by optimizers alone.
  bool reducesParameters() const { return reductions_ == "parameters"; }

  /// The row of a function, method, constructor or operator. A method is matched through the methods it overrides, an
  /// instantiation through its pattern. Null when the dialect does not know it.
  const Entry* lookup(const clang::FunctionDecl* function) const;
  /// The row of a class: its own, else that of the nearest base class that has one.
  const Entry* lookup(const clang::CXXRecordDecl* record) const;
  /// The row of a class through references, pointers, smart pointers (unique_ptr, shared_ptr, optional, reference_wrapper) and
  /// the dialect's holders.
  const Entry* lookup(clang::QualType type) const;
  /// The row of a data member, variable or enumerator.
  const Entry* lookup(const clang::ValueDecl* value) const;
  /// The function, constructor or member that an expression calls or names; null otherwise.
  const Entry* lookup(const clang::Expr* call) const;

  /// Has the class, or any base class of it, this role?
  bool is(const clang::CXXRecordDecl* record, Role role) const;
  bool is(clang::QualType type, Role role) const;
  bool is(const clang::FunctionDecl* function, Role role) const;
  bool is(const clang::Expr* call, Role role) const;

  /// Does making an object of this type, or of what such a holder holds, call a constructor of this role?
  bool constructs(clang::QualType type, Role role) const;

  /// The class behind references, pointers, smart pointers and holders; null when there is none.
  const clang::CXXRecordDecl* recordOf(clang::QualType type) const;
  /// Is the declaration in the dialect's namespace, known or not?
  bool owns(const clang::Decl* decl) const;

  llvm::ArrayRef<const Entry*> entries() const { return order_; }

  /// To be called before another program is parsed: what was looked up is kept by the address of its declaration.
  void forget() const { cache_.clear(); }

 private:
  friend class DialectReader;
  const Entry* byName(llvm::StringRef name, int params) const;
  const Entry* find(const clang::FunctionDecl* function) const;
  bool owns(llvm::StringRef qualifiedName) const;

  std::string name_, title_, layout_, runtime_, stepDraws_, reductions_;
  std::vector<std::string> namespaces_, reveals_, folders_;
  std::deque<Entry> storage_;
  std::vector<const Entry*> order_;
  llvm::StringMap<std::vector<const Entry*>> names_;
  std::vector<const Entry*> patterns_;  ///< names with `*`, in the order of the table
  mutable llvm::DenseMap<const clang::Decl*, const Entry*> cache_;
  mutable std::deque<Entry> overloads_;  ///< of functions of the table that have no dimension
};

/// "hvd::optim::SGD::step": without template arguments, inline and anonymous namespaces; a constructor has its class' name.
std::string qualifiedName(const clang::NamedDecl* decl);
llvm::StringRef roleName(Role role);
llvm::StringRef opName(OpKind op);

}  // namespace hvdize
