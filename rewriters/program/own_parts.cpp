// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/own_parts.h"

#include <optional>

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"
#include "rewriters/program/origins.h"

using namespace clang;

namespace hvdize {

namespace {

bool isRowwise(PassPart::Kind k) { return k == PassPart::Rows || k == PassPart::Grads; }
bool isKnownAlike(PassPart::Kind k) { return k == PassPart::Same || k == PassPart::Zero; }

// Element by element: of gradients only what is linear in them.
PassPart::Kind multiplied(PassPart::Kind a, PassPart::Kind b) {
  if (a == PassPart::Zero || b == PassPart::Zero) return isKnownAlike(a) || isKnownAlike(b) || (isRowwise(a) && isRowwise(b)) ? PassPart::Zero : PassPart::Unknown;
  if (a == PassPart::Same) std::swap(a, b);
  if (b == PassPart::Same) return a == PassPart::Same || isRowwise(a) || a == PassPart::Sum ? a : PassPart::Unknown;
  if (a == PassPart::Rows) std::swap(a, b);
  return b == PassPart::Rows && isRowwise(a) ? a : PassPart::Unknown;
}

PassPart::Kind added(PassPart::Kind a, PassPart::Kind b) {
  if (a == PassPart::Zero) return b;
  if (b == PassPart::Zero || a == b) return a == PassPart::Undefined || a == PassPart::List ? PassPart::Unknown : a;
  const bool samples = (a == PassPart::Rows || a == PassPart::Same) && (b == PassPart::Rows || b == PassPart::Same);
  return samples ? PassPart::Rows : PassPart::Unknown;
}

// Whatever is done with them element by element: no gradients.
PassPart::Kind mixed(PassPart::Kind a, PassPart::Kind b) {
  const auto plain = [](PassPart::Kind k) { return k == PassPart::Rows || isKnownAlike(k); };
  if (!plain(a) || !plain(b)) return PassPart::Unknown;
  return a == PassPart::Rows || b == PassPart::Rows ? PassPart::Rows : PassPart::Same;
}

// Some elements of what is linear in the gradients are made nothing, by a mask.
PassPart::Kind masked(PassPart::Kind of, PassPart::Kind mask) {
  const bool fits = mask == PassPart::Same || (mask == PassPart::Rows && of != PassPart::Sum);
  return fits && (isRowwise(of) || of == PassPart::Sum) ? of : PassPart::Unknown;
}

bool isIn(llvm::StringRef name, std::initializer_list<llvm::StringRef> names) { return llvm::is_contained(names, name); }

}  // namespace

PassPart OwnParts::unknown(const Expr* e) {
  if (!where_) where_ = e;
  return {};
}

void OwnParts::returned(const PassPart& p) {
  if (!returned_) result_ = p;
  else if (p.kind != result_.kind || p.items.size() != result_.items.size()) bad_ = true;
  else
    for (size_t i = 0; i < p.items.size(); ++i) {
      PassPart& known = result_.items[i];
      if (known.kind == PassPart::Undefined || known.kind == PassPart::Zero) known = p.items[i];
      else if (p.items[i].kind != known.kind && p.items[i].kind != PassPart::Undefined && p.items[i].kind != PassPart::Zero) bad_ = true;
    }
  returned_ = true;
}

void OwnParts::walk(const Stmt* s) {
  if (!s || bad_) return;
  if (const auto* block = dyn_cast<CompoundStmt>(s)) {
    for (const Stmt* c : block->body()) walk(c);
  } else if (const auto* ds = dyn_cast<DeclStmt>(s)) {
    for (const Decl* d : ds->decls()) {
      const auto* v = dyn_cast<VarDecl>(d);
      if (!v || isa<DecompositionDecl>(v) || v->isStaticLocal()) {
        bad_ = bad_ || isa<ValueDecl>(d);
        continue;
      }
      const CXXRecordDecl* type = v->getType()->getAsCXXRecordDecl();
      const Entry* entry = type ? dialect_.lookup(type) : nullptr;
      if (entry && entry->role == Role::NoGrad) continue;
      parts_[v] = v->getInit() ? eval(v->getInit()) : PassPart(PassPart::Undefined);
    }
  } else if (const auto* branch = dyn_cast<IfStmt>(s)) {
    if (branch->getInit() || branch->getConditionVariable() || !isPlain(branch->getCond())) {
      unknown(branch->getCond());
      bad_ = true;
      return;
    }
    const auto before = parts_;
    walk(branch->getThen());
    auto then = parts_;
    parts_ = before;
    walk(branch->getElse());
    for (const auto& [d, p] : then) {
      const auto other = parts_.find(d);
      if (other == parts_.end()) continue;
      const bool nothing = other->second.kind == PassPart::Undefined || other->second.kind == PassPart::Zero;
      if (nothing) other->second = p;
      else if (p.kind != other->second.kind && p.kind != PassPart::Undefined && p.kind != PassPart::Zero) other->second = PassPart();
    }
  } else if (const auto* r = dyn_cast<ReturnStmt>(s)) {
    returned(r->getRetValue() ? eval(r->getRetValue()) : PassPart());
  } else if (const auto* e = dyn_cast<Expr>(s)) {
    if (eval(e).kind == PassPart::Unknown) bad_ = true;
  } else if (!isa<NullStmt>(s)) {
    bad_ = true;
  }
}

// Something of the context but the tensors that are saved there.
bool OwnParts::isOfContext(const Expr* e) const {
  bool found = false, tensors = false;
  forEachExpr(e, [&](const Expr* x) {
    found = found || (isa<DeclRefExpr>(x) && cast<DeclRefExpr>(x)->getDecl() == context_);
    tensors = tensors || (calleeOf(x) && dialect_.is(x, Role::SavedTensors));
  });
  return found && !tensors;
}

// A number, option or text that all ranks have alike: nothing in it looks into a row, counts rows, draws, or calls what is not known.
bool OwnParts::isPlain(const Expr* e) {
  bool plain = true;
  forEachExpr(e, [&](const Expr* x) {
    if (!plain || isOfContext(x)) return;
    if (const auto* r = dyn_cast<DeclRefExpr>(x)) {
      const auto* v = dyn_cast<VarDecl>(r->getDecl());
      if (v && v->hasGlobalStorage() && !v->getType().isConstQualified()) plain = false;
    }
    if (const auto* b = dyn_cast<BinaryOperator>(x); b && b->isAssignmentOp()) plain = false;
    if (isa<LambdaExpr, CXXNewExpr>(x) || (isa<UnaryOperator>(x) && cast<UnaryOperator>(x)->isIncrementDecrementOp())) plain = false;
    const FunctionDecl* f = isa<CallExpr>(x) ? calleeOf(x) : nullptr;
    if (isa<CallExpr>(x) && !f) plain = false;
    if (!f) return;
    const Entry* entry = dialect_.lookup(x);
    const Expr* object = objectOf(x);
    if (entry && entry->role == Role::Op) {
      const bool shape = entry->op == OpKind::ShapeOnly;
      const bool extent = entry->op == OpKind::Size && !argumentsOf(x).empty() && dimensionOf(x, *entry, code_.context()).value_or(0) > 0;
      if (!shape && !extent && !(object && isKnownAlike(eval(object).kind))) plain = false;
      return;
    }
    if (entry && (entry->role == Role::TensorOptions || entry->role == Role::Device || entry->role == Role::Access)) return;
    const bool math = isSystemDecl(f) && isIn(calleeName(x), {"sqrt", "exp", "log", "pow", "abs", "fabs", "max", "min", "floor", "ceil", "tanh"});
    if (!math) plain = false;
  });
  return plain;
}

PassPart OwnParts::eval(const Expr* e) {
  e = strip(e);
  if (const auto* l = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(l->getSubExpr());
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    PassPart p(PassPart::List);
    for (const Expr* x : list->inits()) p.items.push_back(eval(x));
    return p;
  }
  if (const ValueDecl* d = isa<DeclRefExpr>(e) ? declOf(e) : nullptr)
    if (const auto known = parts_.find(d); known != parts_.end()) return known->second;
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    const auto given = argumentsOf(k);
    if (isTensor(k->getType()) && given.empty()) return PassPart::Undefined;
    if (given.size() == 1 && (isTensor(k->getType()) || isStdRecord(k->getType()) || dialect_.owns(k->getConstructor()))) return eval(given[0]);
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const PassPart a = eval(c->getTrueExpr()), b = eval(c->getFalseExpr());
    return a.kind == b.kind && isPlain(c->getCond()) ? a : unknown(e);
  }
  if (const FunctionDecl* f = calleeOf(e)) {
    if (f->isInStdNamespace() && isIn(calleeName(e), {"move", "forward"}) && !argumentsOf(e).empty()) return eval(argumentsOf(e)[0]);
    const Entry* entry = dialect_.lookup(e);
    if (entry && (entry->role == Role::SavesTensors || entry->role == Role::SavedTensors || entry->role == Role::Op)) return evalCall(e);
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && isOfContext(e)) {
      if (o->getOperator() != OO_Equal) return PassPart::Same;  // what is read from the context; only numbers are put there
      return !isTensor(strip(o->getArg(1))->getType()) && isPlain(o->getArg(1)) ? PassPart(PassPart::Same) : unknown(e);
    }
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript && objectOf(e)) {
      const PassPart of = eval(objectOf(e));
      Expr::EvalResult r;
      const Expr* at = argumentsOf(e).empty() ? nullptr : argumentsOf(e)[0];
      if (of.kind != PassPart::List || !at || !at->EvaluateAsInt(r, code_.context())) return unknown(e);
      const uint64_t n = r.Val.getInt().getZExtValue();
      return n < of.items.size() ? of.items[n] : unknown(e);
    }
  }
  if (isOfContext(e) && !isTensor(e->getType())) return PassPart::Same;
  Expr::EvalResult r;
  if (e->getType()->isArithmeticType() && !e->isValueDependent() && e->EvaluateAsRValue(r, code_.context()))
    if ((r.Val.isInt() && r.Val.getInt() == 0) || (r.Val.isFloat() && r.Val.getFloat().isZero())) return PassPart::Zero;
  if (isTensor(e->getType()) || calleeOf(e)) return !isTensor(e->getType()) && isPlain(e) ? PassPart(PassPart::Same) : unknown(e);
  return isPlain(e) ? PassPart(PassPart::Same) : unknown(e);
}

PassPart OwnParts::evalCall(const Expr* e) {
  const Entry& entry = *dialect_.lookup(e);
  if (entry.role == Role::SavedTensors) return saved_;
  if (entry.role == Role::SavesTensors) {
    if (argumentsOf(e).empty()) return unknown(e);
    saved_ = eval(argumentsOf(e)[0]);
    return saved_.kind == PassPart::List ? saved_ : unknown(e);
  }
  const PassPart p = entry.op == OpKind::Assign || entry.op == OpKind::Scatter ? changed(e, entry) : evalOp(e, entry);
  return p.kind == PassPart::Unknown ? unknown(e) : p;
}

// A variable of the function is given another value; what it gets from its caller, or shares with it, is not to be written.
void OwnParts::store(const Expr* target, const PassPart& p, const Expr* at) {
  const auto* v = isa<DeclRefExpr>(strip(target)) ? dyn_cast_or_null<VarDecl>(declOf(target)) : nullptr;
  if (v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType()) parts_[v] = p;
  else {
    unknown(at);
    bad_ = true;
  }
}

PassPart OwnParts::changed(const Expr* e, const Entry& entry) {
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  if (!object || arguments.empty()) return {};
  const bool assigns = isa<CXXOperatorCallExpr>(e) && cast<CXXOperatorCallExpr>(e)->getOperator() == OO_Equal;
  if (assigns && isa<DeclRefExpr>(strip(object))) {
    const PassPart p = eval(arguments[0]);
    store(object, p, e);
    return p;
  }
  llvm::StringRef name = calleeName(e);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) name = o->getOperator() == OO_PlusEqual ? "add_" : o->getOperator() == OO_MinusEqual ? "sub_" : o->getOperator() == OO_StarEqual ? "mul_" : o->getOperator() == OO_SlashEqual ? "div_" : "=";
  const Expr* whole = object;
  PassPart p;
  const auto isZero = [&](const Expr* x) { return eval(x).kind == PassPart::Zero; };
  if (name == "=" && calleeOf(strip(object)) && objectOf(strip(object))) {  // g[x < 0] = 0, g.index({x < 0}) = 0
    whole = objectOf(strip(object));
    const auto by = argumentsOf(strip(object));
    const PassPart where = by.size() == 1 ? eval(by[0]) : PassPart();
    const PassPart::Kind mask = where.kind == PassPart::List && where.items.size() == 1 ? where.items[0].kind : where.kind;
    const PassPart of = eval(whole);
    if (isZero(arguments[0])) p = masked(of.kind, mask);
  } else if (name == "index_put_" && arguments.size() >= 2) {
    const PassPart where = eval(arguments[0]), of = eval(object);
    if (isZero(arguments[1]) && where.kind == PassPart::List && where.items.size() == 1) p = masked(of.kind, where.items[0].kind);
  } else if (entry.op == OpKind::Assign) {
    const PassPart::Kind a = eval(object).kind, b = eval(arguments[0]).kind;
    if (name == "mul_") p = multiplied(a, b);
    else if (name == "div_") p = b == PassPart::Same || b == PassPart::Rows ? multiplied(a, b) : PassPart::Unknown;
    else if (name == "add_" || name == "sub_") p = added(a, b);
    else if (name == "masked_fill_" && arguments.size() == 2 && isZero(arguments[1])) p = masked(a, b);
    else if (name.starts_with("clamp") && (a == PassPart::Rows || a == PassPart::Same)) p = a;
  }
  // A broken product or a tensor of another shape cannot come out of a change in place.
  if (p.kind != PassPart::Unknown) store(whole, p, e);
  return p;
}

PassPart OwnParts::evalOp(const Expr* e, const Entry& entry) {
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  llvm::SmallVector<const Expr*, 4> operands;
  if (object) operands.push_back(object);
  operands.append(arguments.begin(), arguments.end());
  if (operands.empty()) return {};
  const llvm::StringRef name = calleeName(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const OverloadedOperatorKind op = o ? o->getOperator() : OO_None;
  const auto along = [&]() -> std::optional<bool> {  // over the samples?
    if (entry.dim < 0 || entry.dim >= static_cast<int>(arguments.size())) return true;
    const auto list = extentsOf(arguments[entry.dim]);
    if (!list || list->empty()) return std::nullopt;
    bool samples = false;
    for (const Expr* x : *list) {
      Expr::EvalResult r;
      if (!x->EvaluateAsInt(r, code_.context())) return std::nullopt;
      const int64_t d = r.Val.getInt().getExtValue();
      if (d < 0 && (d != -1 || flat_)) return std::nullopt;
      samples = samples || d == 0;
    }
    return samples;
  };
  switch (entry.op) {
    case OpKind::Elementwise: {
      const PassPart::Kind first = eval(operands[0]).kind;
      if (isIn(name, {"neg", "negative", "clone", "detach", "contiguous", "to", "alias", "data", "cpu", "cuda", "toType", "type_as", "variable_data"}) || (op == OO_Minus && operands.size() == 1)) return first;
      if (name == "repeat_interleave" || operands.size() < 1) return {};
      const PassPart::Kind second = operands.size() > 1 ? eval(operands[1]).kind : PassPart::Same;
      if (isIn(name, {"mul", "multiply"}) || op == OO_Star) return multiplied(first, second);
      if (isIn(name, {"div", "divide", "true_divide"}) || op == OO_Slash) return operands.size() == 2 && (second == PassPart::Same || second == PassPart::Rows) ? multiplied(first, second) : PassPart::Unknown;
      if (isIn(name, {"add", "sub", "subtract"}) || op == OO_Plus || op == OO_Minus) return operands.size() == 2 || eval(operands[2]).kind == PassPart::Same ? added(first, second) : PassPart::Unknown;
      if (name == "masked_fill" && operands.size() == 3 && eval(operands[2]).kind == PassPart::Zero && first != PassPart::Same && first != PassPart::Rows) return masked(first, second);
      if (name == "where" && !object && operands.size() == 3 && (first == PassPart::Rows || first == PassPart::Same)) {
        const PassPart::Kind chosen = added(second, eval(operands[2]).kind);
        if (first == PassPart::Rows && chosen == PassPart::Sum) return {};
        return first == PassPart::Rows && chosen == PassPart::Same ? PassPart::Rows : chosen;
      }
      PassPart::Kind all = mixed(first, PassPart::Same);
      for (const Expr* x : llvm::drop_begin(operands)) all = mixed(all, eval(x).kind);
      return all;
    }
    case OpKind::Rowwise: {
      // Of a convolution or pooling it would have to be seen that the first dimension is not that of the channels.
      const bool activation = isIn(name, {"relu", "relu6", "elu", "selu", "celu", "gelu", "silu", "mish", "sigmoid", "tanh", "softplus", "softsign", "leaky_relu", "hardtanh", "logsigmoid"});
      if (entry.options >= 0 || isIn(name, {"roll", "flip"}) || (entry.dim < 0 && !activation && (name != "linear" || flat_))) return {};
      const auto samples = entry.dim >= 0 ? along() : std::optional<bool>(false);
      if (!samples || *samples) return {};
      PassPart::Kind all = eval(operands[0]).kind;
      for (const Expr* x : llvm::drop_begin(operands)) all = mixed(all, eval(x).kind == PassPart::Rows ? PassPart::Unknown : eval(x).kind);
      return mixed(all, PassPart::Same);
    }
    case OpKind::ReduceSum: case OpKind::ReduceMean: case OpKind::ReduceMax: case OpKind::ReduceMin: {
      const PassPart::Kind k = eval(operands[0]).kind;
      if (k == PassPart::Same || k == PassPart::Zero) return k;
      const auto samples = along();
      if (!samples || !isRowwise(k)) return {};
      if (*samples) return entry.op == OpKind::ReduceSum && k == PassPart::Grads ? PassPart::Sum : PassPart::Unknown;
      reduces_ = true;
      return k == PassPart::Rows || entry.op == OpKind::ReduceSum || entry.op == OpKind::ReduceMean ? k : PassPart::Unknown;
    }
    case OpKind::Reshape: return reshaped(e, eval(operands[0]), arguments);
    case OpKind::Matmul: return product(e, operands);
    case OpKind::Select: {
      const PassPart of = eval(operands[0]);
      if (of.kind == PassPart::Same) return llvm::all_of(llvm::drop_begin(operands), [&](const Expr* x) { return isPlain(x); }) ? of : PassPart();
      if (!isIn(name, {"slice", "narrow", "select"}) || !isRowwise(of.kind)) return {};
      const auto samples = along();
      reduces_ = reduces_ || name == "select";
      return samples && !*samples && llvm::all_of(llvm::drop_begin(operands), [&](const Expr* x) { return isPlain(x); }) ? of : PassPart();
    }
    case OpKind::Factory: {
      if (name.ends_with("_like") && !arguments.empty() && name != "empty_like") {
        const PassPart::Kind k = eval(arguments[0]).kind;
        if (name == "zeros_like") return PassPart::Zero;
        return isRowwise(k) ? PassPart::Rows : k == PassPart::Same || k == PassPart::Zero || k == PassPart::Sum ? PassPart::Same : PassPart::Unknown;
      }
      return llvm::all_of(operands, [&](const Expr* x) { return isPlain(x); }) && name != "from_blob" && !object ? PassPart::Same : PassPart::Unknown;
    }
    default: return {};
  }
}

// Of matrices: rows times what all have, and the sums over samples that such a product has as its gradient.
PassPart OwnParts::product(const Expr* e, llvm::ArrayRef<const Expr*> operands) {
  if (flat_) return {};
  const llvm::StringRef name = calleeName(e);
  PassPart::Kind bias = PassPart::Zero;
  if (name == "addmm") {
    if (operands.size() != 3) return {};
    bias = eval(operands[0]).kind;
    operands = operands.drop_front();
  } else if ((name != "mm" && name != "matmul") || operands.size() != 2) {
    return {};
  }
  const PassPart::Kind a = eval(operands[0]).kind, b = eval(operands[1]).kind;
  PassPart::Kind made = PassPart::Unknown;
  if (b == PassPart::Same && (a == PassPart::Same || isRowwise(a) || a == PassPart::Sum)) made = a;
  else if (a == PassPart::Same && b == PassPart::Sum) made = PassPart::Sum;
  else if (name == "mm" || name == "matmul") {
    // Across times rows adds up over the samples; with more than two dimensions `t` would not have given it.
    if ((a == PassPart::GradsAcross && b == PassPart::Rows) || (a == PassPart::RowsAcross && b == PassPart::Grads)) made = PassPart::Sum;
  }
  return added(made, bias);
}

PassPart OwnParts::reshaped(const Expr* e, const PassPart& of, llvm::ArrayRef<const Expr*> arguments) {
  const llvm::StringRef name = calleeName(e);
  const Expr* object = objectOf(e);
  const auto number = [&](const Expr* x) -> std::optional<int64_t> {
    Expr::EvalResult r;
    if (!x->getType()->isIntegerType() || !x->EvaluateAsInt(r, code_.context())) return std::nullopt;
    return r.Val.getInt().getExtValue();
  };
  const auto given = object ? arguments : arguments.drop_front();
  if (name == "t" || name == "transpose") {
    const bool first = name == "t" || (given.size() == 2 && number(given[0]).value_or(-1) + number(given[1]).value_or(-1) == 1);
    if (of.kind == PassPart::Same) return of;
    if (name != "t" && !first) return given.size() == 2 && number(given[0]).value_or(0) > 0 && number(given[1]).value_or(0) > 0 && isRowwise(of.kind) ? of : PassPart();
    if (name == "transpose") return {};  // of more than two dimensions, perhaps
    if (of.kind == PassPart::Sum) return of;
    return of.kind == PassPart::Rows ? PassPart::RowsAcross : of.kind == PassPart::Grads ? PassPart::GradsAcross : of.kind == PassPart::RowsAcross ? PassPart::Rows : of.kind == PassPart::GradsAcross ? PassPart::Grads : PassPart::Unknown;
  }
  const auto shapedLike = [&](const PassPart::Kind like) -> PassPart {
    if (of.kind == PassPart::Same || of.kind == PassPart::Zero) return like == PassPart::Same ? of.kind : isRowwise(like) ? PassPart::Rows : PassPart::Unknown;
    if (isRowwise(of.kind)) return isRowwise(like) ? of : PassPart();
    return of.kind == PassPart::Sum && (like == PassPart::Same || like == PassPart::Sum) ? of : PassPart();
  };
  if (name.ends_with("_as")) return given.size() == 1 ? shapedLike(eval(given[0]).kind) : PassPart();
  if (name == "unsqueeze" || name == "squeeze" || name == "flatten") {
    if (of.kind == PassPart::Same) return of;
    reduces_ = reduces_ || name == "squeeze";
    return isRowwise(of.kind) && !given.empty() && number(given[0]).value_or(0) > 0 ? of : PassPart();
  }
  if (!isIn(name, {"view", "reshape", "expand"}) || given.empty()) return {};
  const Expr* shape = strip(given[0]);
  const Entry* size = calleeOf(shape) ? dialect_.lookup(shape) : nullptr;
  if (size && size->role == Role::Op && size->op == OpKind::Size && objectOf(shape) && argumentsOf(shape).empty()) return shapedLike(eval(objectOf(shape)).kind);
  const auto list = extentsOf(given[0]);
  if (!list || list->empty()) return {};
  const Expr* leading = strip((*list)[0]);
  const Entry* rows = calleeOf(leading) ? dialect_.lookup(leading) : nullptr;
  const bool rest = llvm::all_of(llvm::drop_begin(*list), [&](const Expr* x) { return isPlain(x); });
  if (of.kind == PassPart::Same) return rest && isPlain(leading) ? of : PassPart();
  const bool keeps = rows && rows->role == Role::Op && rows->op == OpKind::Size && objectOf(leading) && isRowwise(eval(objectOf(leading)).kind) && dimensionOf(leading, *rows, code_.context()) == 0;
  reduces_ = reduces_ || list->size() == 1;
  return rest && keeps && isRowwise(of.kind) ? of : PassPart();
}

}  // namespace hvdize
