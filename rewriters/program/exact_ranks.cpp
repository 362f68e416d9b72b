// SPDX-License-Identifier: Apache-2.0
// How many dimensions a tensor has, where all operations that made it are in sight: labels of randint(10, {n}), cut and converted.
#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"
#include "rewriters/program/ranks.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

// A member of the object itself that only its class gives a value: `this->weight`.
static bool isOwnMember(const Expr* e) {
  const auto* m = dyn_cast<MemberExpr>(e);
  return m && isa<FieldDecl>(m->getMemberDecl()) && isa<CXXThisExpr>(strip(m->getBase()));
}

// tensor(1.5), tensor({1, 2}), tensor({{1, 2}, {3, 4}}), tensor(numbers): how deep its numbers lie; -1 when that is not seen.
static int nesting(const Expr* e, unsigned depth = 0) {
  constexpr unsigned kMostBraces = 8;
  e = e ? strip(e) : nullptr;
  if (!e || depth > kMostBraces) return -1;
  if (e->getType()->isArithmeticType()) return 0;
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) return nesting(list->getSubExpr(), depth);
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    const int inner = list->getNumInits() > 0 ? nesting(list->getInit(0), depth + 1) : -1;
    return inner < 0 ? -1 : inner + 1;
  }
  const auto* record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(e->getType().getNonReferenceType()->getAsCXXRecordDecl());
  if (record && isStdRecord(e->getType()) && record->getTemplateArgs().size() > 0 && record->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
    return record->getTemplateArgs()[0].getAsType()->isArithmeticType() && record->getName() != "pair" && record->getName() != "tuple" ? 1 : -1;
  const auto* k = dyn_cast<CXXConstructExpr>(e);
  return k && argumentsOf(k).size() == 1 ? nesting(argumentsOf(k)[0], depth) : -1;
}

// Of a tuple, a pair or a list in braces that a function of the author's gives, or that is made in sight: the dimensions of the part `index`.
int TensorRanks::exactOfPart(const Expr* whole, unsigned index, unsigned depth) const {
  constexpr unsigned kDeepest = 24, kForEachHand = 4;  // from function to function it does not go far
  whole = whole ? strip(whole) : nullptr;
  if (!whole || depth > kDeepest) return -1;
  if (const auto* r = dyn_cast<DeclRefExpr>(whole)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    const bool once = v && v->isLocalVarDecl() && v->getInit() && llvm::none_of(definitions_.of(v), [&](const Definition& d) { return d.value != v->getInit(); });
    return once ? exactOfPart(v->getInit(), index, depth + kForEachHand) : -1;
  }
  if (const auto* list = dyn_cast<InitListExpr>(whole)) return index < list->getNumInits() ? exact(list->getInit(index), depth + 1) : -1;
  if (const auto* k = dyn_cast<CXXConstructExpr>(whole)) {
    const auto given = argumentsOf(k);
    if (given.size() == 1) return exactOfPart(given[0], index, depth + 1);
    return (isStdRecord(k->getType()) || dialect_.is(k->getType(), Role::Batch)) && index < given.size() ? exact(given[index], depth + 1) : -1;
  }
  const llvm::StringRef name = calleeName(whole);
  if (const FunctionDecl* f = calleeOf(whole); f && f->isInStdNamespace() && (name == "make_tuple" || name == "make_pair")) {
    const auto given = argumentsOf(whole);
    return index < given.size() ? exact(given[index], depth + 1) : -1;
  }
  int rank = -1;
  for (const FunctionDecl* f : code_.targets(whole))
    for (const Expr* returned : definitions_.returns(f)) {
      const int n = exactOfPart(returned, index, depth + kForEachHand);
      if (n < 0 || (rank >= 0 && n != rank)) return -1;
      rank = n;
    }
  return rank;
}

int TensorRanks::exact(const Expr* e, unsigned depth) const {
  constexpr unsigned kMostOperations = 24;  // longer chains say nothing
  e = e ? strip(e) : nullptr;
  if (!e || depth > kMostOperations) return -1;
  if (view_)
    if (const int n = exactOfBatch(e, depth); n >= 0) return n;
  if (const auto* r = dyn_cast<DeclRefExpr>(e); r && isa<BindingDecl>(r->getDecl())) {
    const auto* b = cast<BindingDecl>(r->getDecl());
    const auto* whole = dyn_cast_or_null<DecompositionDecl>(b->getDecomposedDecl());
    if (!whole || !whole->getInit() || definitions_.of(b).size() > 1) return -1;
    const auto* at = llvm::find(whole->bindings(), b);
    return exactOfPart(whole->getInit(), static_cast<unsigned>(at - whole->bindings().begin()), depth + 1);
  }
  if (const FunctionDecl* f = calleeOf(e); f && f->isInStdNamespace() && calleeName(e) == "get" && argumentsOf(e).size() == 1) {
    const auto* index = f->getTemplateSpecializationArgs();
    return index && index->size() > 0 && index->get(0).getKind() == TemplateArgument::Integral
               ? exactOfPart(argumentsOf(e)[0], static_cast<unsigned>(index->get(0).getAsIntegral().getZExtValue()), depth + 1)
               : -1;
  }
  if (isa<DeclRefExpr>(e) || isOwnMember(e)) {
    const ValueDecl* v = declOf(e);
    const auto* variable = dyn_cast_or_null<VarDecl>(v);
    if (!v || isa<ParmVarDecl>(v) || (variable && variable->isCXXForRangeDecl())) return -1;
    int rank = -1;
    for (const Definition& def : definitions_.of(v)) {
      if (def.value && !def.compound && givesPart(code_, def.value)) continue;  // a row of it is given another value
      if (keepsShape(def)) continue;
      const int n = def.value && !def.compound && !def.through ? exact(def.value, depth + 1) : -1;
      if (n < 0 || (rank >= 0 && n != rank)) return -1;
      rank = n;
    }
    return rank;
  }
  const Entry* entry = calleeOf(e) && code_.targets(e).empty() ? dialect_.lookup(e) : nullptr;
  return entry ? exactOfCall(e, *entry, depth + 1) : -1;
}

int TensorRanks::exactOfCall(const Expr* e, const Entry& entry, unsigned depth) const {
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  const Expr* tensor = object ? object : arguments.empty() ? nullptr : arguments[0];
  const unsigned given = object ? 0 : 1;  // the first argument behind the tensor
  const auto extents = [&]() -> int {
    if (entry.shape < 0 || entry.shape >= static_cast<int>(arguments.size())) return -1;
    const auto* none = dyn_cast<CXXConstructExpr>(strip(arguments[entry.shape]));
    if (none && none->getNumArgs() == 0) return 0;  // zeros({})
    const auto list = extentsOf(arguments[entry.shape]);
    return list ? static_cast<int>(list->size()) : -1;
  };
  const auto isLeftOut = [](const Expr* a) { return isa<CXXDefaultArgExpr>(a); };
  if (entry.role == Role::Loss) {
    const bool plain = !object && entry.reduction != LossReduction::None && llvm::all_of(llvm::drop_begin(arguments, std::min<size_t>(2, arguments.size())), isLeftOut);
    return plain ? 0 : -1;
  }
  if (name == "register_parameter" || name == "register_buffer") return arguments.size() > 1 ? exact(arguments[1], depth) : -1;
  if (entry.role == Role::RandomDraw) return entry.shape >= 0 ? extents() : name == "randperm" ? 1 : -1;
  if (entry.role != Role::Op) return -1;
  if (name == "one_hot") {
    const int rank = tensor ? exact(tensor, depth) : -1;
    return rank < 0 ? -1 : rank + 1;
  }
  switch (entry.op) {
    case OpKind::Factory: return entry.shape >= 0 ? extents() : name == "arange" || name == "linspace" ? 1 : name == "tensor" && !arguments.empty() ? nesting(arguments[0]) : -1;
    case OpKind::Elementwise: {
      int rank = tensor ? exact(tensor, depth) : -1;
      for (const Expr* a : arguments)
        if (a != tensor && dialect_.is(a->getType(), Role::Tensor)) {
          const int n = exact(a, depth);
          if (n < 0) return -1;
          rank = rank < 0 ? -1 : std::max(rank, n);
        }
      return rank;
    }
    case OpKind::Rowwise: return name == "softmax" || name == "log_softmax" ? exact(tensor, depth) : -1;
    case OpKind::Matmul: {  // one of many matrices is stretched for the other's
      const Expr* other = object ? (arguments.empty() ? nullptr : arguments[0]) : arguments.size() > 1 ? arguments[1] : nullptr;
      const int a = exact(tensor, depth), b = other && (name == "matmul" || name == "mm") ? exact(other, depth) : -1;
      return a >= 2 && b >= 2 ? std::max(a, b) : -1;
    }
    case OpKind::BatchedMatmul: return name == "bmm" ? 3 : -1;
    case OpKind::Contraction: {
      const auto form = arguments.empty() ? std::nullopt : contractionOf(arguments[0]);
      return form ? static_cast<int>(form->result.size()) : -1;
    }
    case OpKind::Select: {
      if (name == "slice" || name == "narrow" || name == "index_select") return exact(tensor, depth);
      const auto* item = dyn_cast<CXXOperatorCallExpr>(e);  // x[3]
      const bool one = item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2 && item->getArg(1)->getType()->isIntegerType();
      if (name != "select" && !one) return -1;
      const int rank = exact(one ? item->getArg(0) : tensor, depth);
      return rank > 0 ? rank - 1 : -1;
    }
    case OpKind::Reshape: {
      if (entry.shape >= 0) return extents();
      if (name == "flatten" && arguments.size() <= given) return 1;
      const int rank = exact(tensor, depth);
      return name == "unsqueeze" && rank >= 0 ? rank + 1 : name == "t" || name == "transpose" ? rank : -1;
    }
    default: break;
  }
  // Along one dimension, which goes: argmax(1), sum(1), mean(1, /*keepdim=*/true).
  const bool reduces = name == "argmax" || name == "argmin" || name == "sum" || name == "mean" || name == "prod" || name == "logsumexp";
  if (reduces && llvm::all_of(llvm::drop_begin(arguments, std::min<size_t>(given, arguments.size())), isLeftOut)) return 0;
  const Expr* along = entry.dim >= 0 && entry.dim < static_cast<int>(arguments.size()) ? arguments[entry.dim] : nullptr;
  const auto list = along ? extentsOf(along) : std::nullopt;
  const bool one = along && !isa<CXXDefaultArgExpr>(along) && dimensionOf(e, entry, code_.context()) && !(list && list->size() != 1);
  if (!reduces || !one) return -1;
  const int rank = exact(tensor, depth);
  if (rank <= 0) return -1;
  if (arguments.size() == given + 1) return rank - 1;
  const auto* keep = dyn_cast<CXXBoolLiteralExpr>(strip(arguments[given + 1]));
  return !keep ? (isa<CXXDefaultArgExpr>(arguments[given + 1]) ? rank - 1 : -1) : keep->getValue() ? rank : rank - 1;
}

}  // namespace hvdize
