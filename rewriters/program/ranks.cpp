// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/ranks.h"

#include <map>

#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

// Chains of operations longer than this say nothing.
constexpr unsigned kDeepest = 24;

}  // namespace

int TensorRanks::atLeast(const Expr* e) const { return of(e, 0); }

int TensorRanks::of(const Expr* e, unsigned depth) const {
  e = e ? strip(e) : nullptr;
  if (!e || depth > kDeepest) return 0;
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    if (isa<BindingDecl>(r->getDecl())) return std::max(0, exact(e, depth + 1));
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    return v ? ofVariable(v, e, depth + 1) : 0;
  }
  if (isa<MemberExpr>(e)) return std::max(0, exact(e, depth + 1));
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return std::min(of(c->getTrueExpr(), depth + 1), of(c->getFalseExpr(), depth + 1));
  const FunctionDecl* f = calleeOf(e);
  const auto targets = code_.targets(e);
  int least = -1;
  for (const FunctionDecl* t : targets)
    for (const Expr* returned : definitions_.returns(t)) {
      const int n = of(returned, depth + 2);
      least = least < 0 ? n : std::min(least, n);
    }
  if (!targets.empty()) return std::max(least, 0);
  const Entry* entry = f ? dialect_.lookup(f) : nullptr;
  if (entry) return ofCall(e, *entry, depth + 1);
  // An item of a list of tensors: parts[1].
  const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
  return item && item->getOperator() == OO_Subscript ? of(item->getArg(0), depth + 1) : 0;
}

int TensorRanks::ofCall(const Expr* e, const Entry& entry, unsigned depth) const {
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  const Expr* first = object ? object : arguments.empty() ? nullptr : arguments[0];
  const auto largest = [&] {
    int n = object ? of(object, depth) : 0;
    for (const Expr* a : arguments)
      if (dialect_.is(a->getType(), Role::Tensor)) n = std::max(n, of(a, depth));
    return n;
  };
  if (entry.role == Role::Forward) {
    const auto is = [&](Role role) { return object && dialect_.is(object->getType(), role); };
    if (takesEach(e, "indices") && !arguments.empty()) return of(arguments[0], depth) + 1;  // a vector for each index
    const Entry* layer = object ? dialect_.lookup(object->getType()) : nullptr;
    if (layer && layer->role == Role::LayerOfRank) return layer->arg;
    const bool keeps = (keepsDimensions(e) || is(Role::KeepsShape) || is(Role::Dropout) || is(Role::LayerAlong) || is(Role::BatchNorm)) && !arguments.empty();
    return keeps ? of(arguments[0], depth) : 0;
  }
  const bool made = entry.role == Role::RandomDraw || (entry.role == Role::Op && entry.op == OpKind::Factory);
  if (made && entry.shape >= 0) return std::max(0, exactOfCall(e, entry, depth));  // randn({40, 8})
  if (entry.role == Role::RandomDraw) return arguments.empty() ? 0 : of(arguments[0], depth);
  if (entry.role != Role::Op) return 0;
  switch (entry.op) {
    case OpKind::Elementwise:
    case OpKind::Rowwise:
    case OpKind::Matmul:
      if (calleeName(e) == "repeat_interleave") return 1;  // without a dimension; with one, more
      if (const llvm::StringRef name = calleeName(e); name == "argmax" || name == "argmin" || name == "cosine_similarity" || name == "pairwise_distance") return std::max(0, largest() - 1);
      return largest();  // a product with a tensor of more dimensions has that many
    case OpKind::BatchedMatmul: return 3;
    case OpKind::Contraction: {
      const auto form = arguments.empty() ? std::nullopt : contractionOf(arguments[0]);
      return form ? static_cast<int>(form->result.size()) : 0;
    }
    case OpKind::ReduceSum:
    case OpKind::ReduceMean: {
      const Expr* along = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size()) ? arguments[entry.dim] : nullptr;
      const bool one = along && !isa<CXXDefaultArgExpr>(along) && dimensionOf(e, entry, code_.context());
      return one ? std::max(0, of(first, depth) - 1) : 0;
    }
    case OpKind::Reshape: {
      if (entry.shape >= 0) {
        const Expr* shape = entry.shape < static_cast<int>(arguments.size()) ? arguments[entry.shape] : nullptr;
        // const std::vector<int64_t> shape = {n, -1};
        const auto* named = shape ? dyn_cast_or_null<VarDecl>(declOf(strip(shape))) : nullptr;
        if (named && named->getType().isConstQualified() && named->hasInit()) shape = named->getInit();
        const auto list = shape ? extentsOf(shape) : std::nullopt;
        return list ? static_cast<int>(list->size()) : 0;
      }
      const llvm::StringRef name = calleeName(e);
      if (name == "unsqueeze") return of(first, depth) + 1;
      if (name == "flatten") {
        const Expr* start = arguments.size() > (object ? 0u : 1u) ? arguments[object ? 0 : 1] : nullptr;
        Expr::EvalResult r;
        const bool given = start && start->getType()->isIntegerType() && start->EvaluateAsInt(r, code_.context());
        return given && r.Val.getInt() > 0 ? static_cast<int>(r.Val.getInt().getExtValue()) + 1 : 1;
      }
      if (!name.starts_with("transpose") && !name.starts_with("swap")) return 0;
      int n = of(first, depth);
      for (const Expr* a : arguments) {
        Expr::EvalResult r;
        if (a->getType()->isIntegerType() && a->EvaluateAsInt(r, code_.context())) n = std::max(n, static_cast<int>(r.Val.getInt().getExtValue()) + 1);
      }
      return n;
    }
    case OpKind::Concat: {
      const auto list = arguments.empty() ? std::nullopt : extentsOf(arguments[0]);
      int n = 0;
      for (unsigned i = 0; list && i < list->size(); ++i) n = std::max(n, of((*list)[i], depth));
      return n + (calleeName(e) == "stack" ? 1 : 0);
    }
    case OpKind::Select: {
      const llvm::StringRef name = calleeName(e);
      // qkv[0], qkv.select(0, i): one dimension less.
      const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
      const bool one = item ? item->getOperator() == OO_Subscript && item->getNumArgs() == 2 && item->getArg(1)->getType()->isIntegerType() : name == "select";
      if (one) return std::max(0, of(first, depth) - 1);
      return name == "slice" || name == "narrow" || name == "chunk" || name == "split" || name == "index_select" ? of(first, depth) : 0;
    }
    default: return 0;
  }
}

// Has the variable another value at `use` than `value` (null: than at the start), on every way?
bool TensorRanks::given(const VarDecl* d, const Expr* value, const Expr* use) const {
  const auto replaces = [&](const Expr* later) { return later != value && replacedBefore(value, later, use); };
  return llvm::any_of(definitions_.of(d), [&](const Definition& later) { return given(later) != value && replaces(later.value); }) || llvm::any_of(changesInPlace(d), replaces);
}

// `loss.div_(n)`: no definition, and what the variable has afterwards all the same.
llvm::SmallVector<const Expr*, 2> TensorRanks::changesInPlace(const VarDecl* d) const {
  llvm::SmallVector<const Expr*, 2> out;
  for (const Expr* mention : definitions_.uses(d)) {
    const Stmt* p = code_.parent(mention);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
    const Entry* entry = call && objectOf(call) && strip(objectOf(call)) == strip(mention) ? dialect_.lookup(call) : nullptr;
    if (entry && entry->role == Role::Op && (entry->op == OpKind::Assign || entry->op == OpKind::Scatter) && calleeName(call).ends_with("_") && !argumentsOf(call).empty()) out.push_back(call);
  }
  return out;
}

// What the variable has afterwards: of `loss /= n` the whole expression. Null where that is not seen.
const Expr* TensorRanks::given(const Definition& def) const {
  if (!def.value || !def.compound) return def.value;
  const Stmt* p = code_.parent(def.value);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, CXXConstructExpr>(p)) p = code_.parent(p);
  const auto* b = dyn_cast_or_null<BinaryOperator>(p);  // inverse /= n, of numbers
  if (b && (b->getOpcode() == BO_MulAssign || b->getOpcode() == BO_DivAssign) && isa<DeclRefExpr>(strip(b->getLHS()))) return b;
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
  return o && o->isAssignmentOp() && o->getNumArgs() == 2 && isa<DeclRefExpr>(strip(o->getArg(0))) ? o : nullptr;
}

// `scores /= x`: a tensor that is changed in place has the shape that it had.
bool TensorRanks::keepsShape(const Definition& def) const {
  const auto* o = def.compound && !def.through ? dyn_cast_or_null<CXXOperatorCallExpr>(given(def)) : nullptr;
  return o && dialect_.is(o->getArg(0)->getType().getNonReferenceType(), Role::Tensor);
}

std::optional<llvm::SmallVector<const Expr*, 4>> TensorRanks::reaching(const VarDecl* d, const Expr* use, bool& start) const {
  start = isa<ParmVarDecl>(d) && !given(d, nullptr, use);
  llvm::SmallVector<const Expr*, 4> out;
  for (const Definition& def : definitions_.of(d)) {
    const auto* home = dyn_cast<FunctionDecl>(d->getDeclContext());
    const FunctionDecl* there = def.value ? code_.functionOf(def.value) : nullptr;
    if (isa<ParmVarDecl>(d) && there && home && there->getCanonicalDecl() != home->getCanonicalDecl()) continue;  // what a caller gives
    const Expr* value = def.through ? nullptr : given(def);
    if (!value) return std::nullopt;
    if (!given(d, value, use) && reaches(value, use)) out.push_back(value);
  }
  for (const Expr* changed : changesInPlace(d))
    if (!given(d, changed, use) && reaches(changed, use)) out.push_back(changed);
  return out;
}

// The value that stands at `use`: what the variable was last given on every way to it, or the least of all it may have been given.
int TensorRanks::ofVariable(const VarDecl* d, const Expr* use, unsigned depth) const {
  const int asked = extentsAsked(d);
  if (isa<ParmVarDecl>(d) && !given(d, nullptr, use)) return asked;  // what the caller gives may be anything
  int least = -1;
  for (const Definition& def : definitions_.of(d)) {
    const auto* changed = keepsShape(def) ? cast<CXXOperatorCallExpr>(given(def)) : nullptr;
    if (!changed && (def.compound || !def.value || def.through)) return 0;
    const Expr* value = changed ? changed : def.value;
    if (given(d, value, use) || !reaches(value, use)) continue;
    const int n = of(changed ? changed->getArg(0) : value, depth + 1);
    least = least < 0 ? n : std::min(least, n);
  }
  return std::max({least, asked, 0});
}

// A layer that takes the last dimension of whatever it gets, as a linear one does, or each number.
bool TensorRanks::keepsDimensions(const Expr* call) const { return takesEach(call, "vectors") || takesEach(call, "numbers"); }

// A layer that computes for each of these by itself: "vectors" of the last dimension, "indices".
bool TensorRanks::takesEach(const Expr* call, llvm::StringRef positions) const {
  const Expr* object = calleeOf(call) ? objectOf(call) : nullptr;
  const CXXRecordDecl* layer = object ? dialect_.recordOf(object->getType()) : nullptr;
  return layer && layer->hasDefinition() && llvm::any_of(layer->methods(), [&](const CXXMethodDecl* m) {
           const Entry* entry = m->getDeclName().isIdentifier() && m->getName() == "forward" ? dialect_.lookup(m) : nullptr;
           return entry && entry->positions == positions;
         });
}

// x.transpose(1, 2), x.size(2), x.permute({0, 2, 1}): with fewer dimensions than these speak of the program would not run.
int TensorRanks::dimensionsNamed(const Expr* call, const Expr* use) const {
  const Entry* entry = dialect_.lookup(call);
  const auto arguments = argumentsOf(call);
  const Expr* tensor = objectOf(call) ? objectOf(call) : arguments.empty() ? nullptr : arguments[0];
  if (!entry || entry->role != Role::Op || !tensor || strip(tensor) != strip(use)) return 0;
  const llvm::StringRef name = calleeName(call);
  if (entry->shape >= 0 && entry->order == 1) {
    const auto list = entry->shape < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry->shape]) : std::nullopt;
    return list ? static_cast<int>(list->size()) : 0;
  }
  const bool two = name.starts_with("transpose") || name.starts_with("swap") || name.starts_with("move");
  int most = 0;
  for (int i = entry->dim; entry->dim >= 0 && i <= entry->dim + (two ? 1 : 0) && i < static_cast<int>(arguments.size()); ++i) {
    Expr::EvalResult r;
    const Expr* a = strip(arguments[i]);
    if (isa<CXXDefaultArgExpr>(a) || !a->getType()->isIntegralOrEnumerationType() || a->isValueDependent() || !a->EvaluateAsInt(r, code_.context())) continue;
    const int d = static_cast<int>(r.Val.getInt().getExtValue());
    most = std::max(most, (d >= 0 ? d + 1 : -d) - (name.starts_with("unsqueeze") ? 1 : 0));  // a new one may stand behind the last
  }
  return most;
}

// `const auto width = x.size(2);`, whatever else happens in the function: x has three dimensions at least. Of a variable with one value.
int TensorRanks::extentsAsked(const VarDecl* d, unsigned depth) const {
  const auto* home = dyn_cast<FunctionDecl>(d->getDeclContext());
  unsigned values = isa<ParmVarDecl>(d) ? 1 : 0;
  for (const Definition& def : definitions_.of(d)) {
    const FunctionDecl* there = def.value ? code_.functionOf(def.value) : nullptr;
    if (isa<ParmVarDecl>(d) && there && home && there->getCanonicalDecl() != home->getCanonicalDecl()) continue;  // what a caller gives
    ++values;
  }
  if (!home || values != 1) return 0;
  int most = 0;
  for (const Expr* use : definitions_.uses(d)) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    // `auto q = query(x);` of a linear layer: x has as many as q.
    while (isa_and_nonnull<CXXConstructExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(p)) p = code_.parent(p);
    if (const auto* layer = dyn_cast_or_null<CallExpr>(p); layer && depth < 3 && argumentsOf(layer).size() == 1 && strip(argumentsOf(layer)[0]) == use && keepsDimensions(layer))
      for (const Stmt* at = layer; at && isa<Expr>(at); at = code_.parent(at))
        if (const VarDecl* made = code_.variableInitialisedBy(at); made && strip(cast<Expr>(at)) == layer) most = std::max(most, extentsAsked(made, depth + 1));
    const auto* call = dyn_cast_or_null<CallExpr>(p);
    const int named = call && calleeOf(call) ? dimensionsNamed(call, use) : 0;
    if (named <= most) continue;
    bool always = code_.functionOf(use) && code_.functionOf(use)->getCanonicalDecl() == home->getCanonicalDecl();
    const DeclStmt* declared = code_.declStmt(d);
    const Stmt* scope = declared ? code_.parent(declared) : nullptr;
    for (const Stmt *at = call, *up = code_.parent(at); up && up != scope && always; at = up, up = code_.parent(up)) {
      const auto* b = dyn_cast<BinaryOperator>(up);
      always = !isa<IfStmt, AbstractConditionalOperator, SwitchStmt, LambdaExpr, CXXTryStmt>(up) && !isLoop(up) && !(b && b->isLogicalOp() && b->getRHS() == at);
    }
    if (always) most = named;
  }
  return most;
}

// May the value still be there at `use`? One that is given there or further down comes back in the next round of a loop only.
bool TensorRanks::reaches(const Expr* value, const Expr* use) const {
  if (code_.functionOf(value) != code_.functionOf(use)) return true;
  bool holds = false, loop = false;
  for (const Stmt* p = use; p; p = code_.parent(p)) {
    holds = holds || p == value || p == strip(value);
    loop = loop || isLoop(p);
  }
  return loop || (!holds && code_.context().getSourceManager().isBeforeInTranslationUnit(value->getBeginLoc(), use->getBeginLoc()));
}

// Is `later` given to the variable on every way from `value` (null: from the function's start) to `use`? It stands in a block around the use, after the one and before the other.
bool TensorRanks::replacedBefore(const Expr* value, const Expr* later, const Expr* use) const {
  if (!later || code_.functionOf(later) != code_.functionOf(use)) return false;
  const SourceManager& sm = code_.context().getSourceManager();
  const auto before = [&](const Stmt* a, const Stmt* b) { return sm.isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc()); };
  const Stmt* statement = later;
  while (statement && !isa_and_nonnull<CompoundStmt>(code_.parent(statement))) {
    statement = code_.parent(statement);
    if (isa_and_nonnull<IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt, ConditionalOperator, CXXTryStmt>(statement)) return false;
  }
  const Stmt* block = statement ? code_.parent(statement) : nullptr;
  bool around = false;
  for (const Stmt* p = use; p && !around; p = code_.parent(p)) around = p == block;
  if (!around || !before(statement, use)) return false;
  for (const Stmt* p = use; p; p = code_.parent(p))
    if (p == statement) return false;  // the use is part of what is assigned: it sees the value before
  if (!value || before(value, statement)) return true;
  if (!before(use, value) && !isWithin(code_, use, value)) return false;
  // A value given after the use comes back to it in the next round, unless that round gives the later one first.
  const auto within = [&](const Stmt* s, const Stmt* loop) {
    while (s && s != loop) s = code_.parent(s);
    return s != nullptr;
  };
  for (const Stmt* p = use; p; p = code_.parent(p))
    if (isLoop(p) && within(value, p) && !within(statement, p)) return false;
  return true;
}

std::optional<Contraction> contractionOf(const Expr* equation) {
  const StringLiteral* text = nullptr;
  forEachExpr(equation, [&](const Expr* x) {
    if (const auto* s = dyn_cast<StringLiteral>(x)) text = s;
  });
  if (!text || text->getString().contains('.')) return std::nullopt;  // an ellipsis stands for any number of dimensions
  std::string all = text->getString().str();
  llvm::erase(all, ' ');
  const auto [left, right] = llvm::StringRef(all).split("->");
  Contraction c;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  left.split(parts, ',');
  std::map<char, int> seen;
  for (llvm::StringRef part : parts) {
    c.operands.push_back(part.str());
    for (char letter : part) ++seen[letter];
  }
  c.result = right.str();
  if (!llvm::StringRef(all).contains("->"))  // the letters that occur once, in the order of the alphabet
    for (const auto& [letter, times] : seen)
      if (times == 1) c.result += letter;
  return c;
}

}  // namespace hvdize
