// SPDX-License-Identifier: Apache-2.0
// Parts of results that hold several: pairs, tuples, an extremum with its place.
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// Is this item of a list, `results[0]`, used so that neither the list nor the item changes?
bool isOnlyUsed(const AuthorCode& code, const Expr* item) {
  const Stmt* p = code.parent(item);
  const Expr* at = item;
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups>(p)) {
    at = cast<Expr>(p);
    p = code.parent(p);
  }
  if (const auto* m = dyn_cast_or_null<MemberExpr>(p)) return m->getMemberDecl()->getDeclName().isIdentifier() && !m->getMemberDecl()->getName().ends_with("_");
  if (const auto* d = dyn_cast_or_null<DeclStmt>(p))
    return llvm::all_of(d->decls(), [](const Decl* x) {
      const auto* v = dyn_cast<VarDecl>(x);
      return v && (!v->getType()->isReferenceType() || v->getType().getNonReferenceType().isConstQualified());
    });
  if (isa_and_nonnull<ReturnStmt, InitListExpr>(p)) return true;
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p)) return !o->isAssignmentOp() || o->getArg(0) != at;
  const auto* call = dyn_cast_or_null<Expr>(p);
  if (!call || !calleeOf(call)) return false;
  const auto given = argumentsOf(call);
  for (unsigned i = 0; i < given.size(); ++i)
    if (given[i] == at || strip(given[i]) == strip(at)) {
      const ParmVarDecl* to = parameterOf(call, i);
      return to && (!to->getType()->isReferenceType() || to->getType().getNonReferenceType().isConstQualified());
    }
  return false;
}

// `results[0]`, `results.at(0)`: which list, and which item of it.
std::pair<const Expr*, unsigned> itemOf(const ASTContext& context, const Expr* e) {
  const Expr* object = objectOf(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const CXXRecordDecl* list = object ? object->getType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
  if (!list || !list->isInStdNamespace() || (list->getName() != "vector" && list->getName() != "array")) return {};
  const auto arguments = argumentsOf(e);
  const bool item = o ? o->getOperator() == OO_Subscript : calleeName(e) == "at";
  const Expr* index = !item || arguments.empty() ? nullptr : o ? o->getArg(1) : arguments[0];
  Expr::EvalResult number;
  if (!index || index->isValueDependent() || !index->EvaluateAsInt(number, context) || number.Val.getInt().isNegative() || number.Val.getInt().ugt(255)) return {};
  return {object, static_cast<unsigned>(number.Val.getInt().getExtValue())};
}

}  // namespace

// `record = Record{loss.detach(), x.mean(0)};`, `history.push_back({epoch, loss.detach()})`, of what lives on when the step is over?
Kinds::Outlives Kinds::outlivesStep(const Expr* made) {
  const Stmt *below = made, *p = code_.parent(made);
  for (; isa_and_nonnull<ImplicitCastExpr, ExplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups, ParenExpr, CXXConstructExpr, InitListExpr, CXXStdInitializerListExpr>(p); p = code_.parent(p)) below = p;
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  const Expr* object = call && batches_.inStep(call) > 0 ? objectOf(call) : nullptr;
  if (!object || below == object || !declaredOutsideStep(object, call)) return Outlives::No;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(call);
  if (o) return o->getOperator() == OO_Equal && !isTensor(object->getType()) && !isNewInStep(rootOf(object), call) ? Outlives::Assigned : Outlives::No;
  return isStdRecord(object->getType()) && addsItem(calleeName(call)) ? Outlives::Added : Outlives::No;
}

// An entry of such a list: a number of the batch is made whole as it goes there. An assigned one that gradients may be wanted of stays, an added one does not
// (no gradient flows through what is whole).
Value Kinds::keptEntry(const Expr* x, const Value& v, Outlives how) {
  const bool number = isTensor(x->getType()) && v.dependsOnSamples() && v.kind != Kind::Unknown && v.kind != Kind::Sharded && v.kind != Kind::Second && v.kind != Kind::Rows && v.kind != Kind::Shape;
  const bool gradients = (v.graded || v.carried) && !withoutGradients(x);
  if (how == Outlives::No || !number || (gradients && how == Outlives::Assigned)) return v;
  cross(x, v, "kept");
  Value whole(Kind::Uniform);
  whole.carried = gradients;
  return whole;
}

// `last = {loss1.detach(), loss2.detach()}`: each by itself, for no list or pair of tensors is made whole as one.
void Kinds::crossParts(const Expr* e, const char* what) {
  auto parts = isTensor(e->getType()) ? std::nullopt : partsOf(e);
  if (const Expr* made = strip(e); !parts && mayHoldNothing(e->getType()) && isa<CallExpr>(made) && calleeName(made).starts_with("make_")) parts = argumentsOf(made);
  if (!parts) cross(e, eval(e), what);
  else for (const Expr* part : *parts) crossParts(part, what);
}

// The text in a pair or tuple, `std::pair<std::string, Tensor>`, or the key in an entry of a map: no number of the batch, whatever stands beside it.
static bool isName(QualType of, unsigned i) {
  const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(of.getNonReferenceType()->getAsCXXRecordDecl());
  if (!s || !s->isInStdNamespace() || (s->getName() != "pair" && s->getName() != "tuple") || s->getTemplateArgs().size() == 0) return false;
  llvm::SmallVector<QualType, 4> types;
  for (const TemplateArgument& a : s->getTemplateArgs().asArray()) {
    if (a.getKind() == TemplateArgument::Type) types.push_back(a.getAsType());
    if (a.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument& x : a.getPackAsArray())
        if (x.getKind() == TemplateArgument::Type) types.push_back(x.getAsType());
  }
  return i < types.size() && (isText(types[i]) || isCharacters(types[i]) || (types[i].isConstQualified() && types[i]->isIntegralOrEnumerationType()));
}

// `{loss, hits}`, std::make_pair(loss, hits), std::pair<...>(loss, hits): the parts. Nothing for other expressions.
std::optional<llvm::SmallVector<const Expr*, 4>> Kinds::partsOf(const Expr* e) {
  e = strip(e);
  if (const auto* list = dyn_cast<InitListExpr>(e); list && list->getNumInits() == 1 && isStdRecord(list->getType()) && isa<InitListExpr>(strip(list->getInit(0))))
    return partsOf(list->getInit(0));  // a std::array's own array
  if (const auto* list = dyn_cast<InitListExpr>(e)) return llvm::SmallVector<const Expr*, 4>(list->inits().begin(), list->inits().end());
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) return partsOf(list->getSubExpr());
  const FunctionDecl* f = calleeOf(e);
  if (!f || !isStdRecord(e->getType())) return std::nullopt;
  const auto arguments = argumentsOf(e);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) {
    if (arguments.size() == 1) return partsOf(arguments[0]);  // a copy, a conversion
    const CXXRecordDecl* r = k->getType()->getAsCXXRecordDecl();
    if (arguments.size() < 2 || !r || (r->getName() != "pair" && r->getName() != "tuple")) return std::nullopt;
    return llvm::SmallVector<const Expr*, 4>(arguments.begin(), arguments.end());
  }
  const bool makes = isSystemDecl(f) && f->getDeclName().isIdentifier() && (f->getName() == "make_pair" || f->getName() == "make_tuple");
  if (!makes) return std::nullopt;
  return llvm::SmallVector<const Expr*, 4>(arguments.begin(), arguments.end());
}

// `std::get<1>(results)`, and an item of a list that a function has made and nothing changes: `step(batch)[1]`. Which results, and which part.
std::pair<const Expr*, unsigned> Kinds::numberedPart(const Expr* e) const {
  const FunctionDecl* callee = calleeOf(e);
  const auto arguments = argumentsOf(e);
  if (callee && hostRole(callee) == HostRole::Forward && arguments.size() == 1 && callee->getName() == "get")
    if (const auto* given = callee->getTemplateSpecializationArgs(); given && given->size() > 0 && given->get(0).getKind() == TemplateArgument::Integral)
      return {arguments[0], static_cast<unsigned>(given->get(0).getAsIntegral().getExtValue())};
  const auto found = callee ? itemOf(code_.context(), e) : std::pair<const Expr*, unsigned>();
  if (!found.first) return {};
  const Expr* list = strip(found.first);
  if (!isa<DeclRefExpr>(list)) return code_.targets(list).empty() || !isOnlyUsed(code_, e) ? std::pair<const Expr*, unsigned>() : found;
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(list));
  const auto given = v && v->isLocalVarDecl() && !v->getType()->isReferenceType() ? definitions_.of(v) : llvm::ArrayRef<Definition>();
  if (given.size() != 1 || !given[0].value || given[0].compound || given[0].through || code_.targets(strip(given[0].value)).empty()) return {};
  for (const Expr* use : definitions_.uses(v)) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* of = dyn_cast_or_null<CallExpr>(p);
    const bool counted = of && objectOf(of) && strip(objectOf(of)) == strip(use) && (calleeName(of) == "size" || calleeName(of) == "empty");
    if (!counted && !(of && itemOf(code_.context(), of).first && strip(objectOf(of)) == strip(use) && isOnlyUsed(code_, of))) return {};
  }
  return found;
}

// A number of rows among the parts of a pair or tuple, or beside others in a list: what is in there is that of the whole batch.
bool Kinds::isCountedWhole(const Expr* part) {
  const Stmt* p = code_.parent(part);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExplicitCastExpr>(p)) p = code_.parent(p);
  if (const auto* list = dyn_cast_or_null<InitListExpr>(p)) return countsBeside(list, part);
  const auto* e = dyn_cast_or_null<Expr>(p);
  return e && calleeOf(e) && isStdRecord(e->getType());
}

// The i-th of several results: what every `return` of the function that made them gives for it. Behind the extremum over the samples comes its
// place.
Value Kinds::partOf(const Expr* all, unsigned i, const Expr* where) {
  if (const Value named = eval(all); isName(all->getType(), i) && named.dependsOnSamples()) return Kind::Uniform;
  const Value whole = eval(all);
  if (whole.also != Also::Same) {
    Value part = whole;
    if (i > 0) part.kind = whole.also == Also::States ? Kind::Second : Kind::Sharded;
    part.deep = part.kind == Kind::Second;
    if (i > 0) part.single = part.deep && whole.oneState;
    part.also = Also::Same;
    part.oneState = false;
    return part;
  }
  if (i > 0 && (whole.kind == Kind::Max || whole.kind == Kind::Min)) return Value::unknown(where, "it is the place of an extremum among this rank's samples");
  const Expr* made = strip(all);
  if (const auto* v = isa<DeclRefExpr>(made) ? dyn_cast_or_null<VarDecl>(declOf(made)) : nullptr) {
    const auto given = definitions_.of(v);
    if (given.size() == 1 && given[0].value && !given[0].compound && !given[0].through && !isa<ParmVarDecl>(v)) made = strip(given[0].value);
  }
  // The call's own place and arguments have decided it; the size of batches beside another number is that size, though.
  if (whole.isUniform()) {
    const auto parts = partsOf(made);
    const Value part = parts && i < parts->size() ? eval((*parts)[i]) : Value();
    return part.kind == Kind::BatchSize || (part.isUniform() && part.power != 0) ? part : whole;
  }
  llvm::SmallVector<const Expr*, 4> values;
  for (const FunctionDecl* f : runBy(made))
    for (const Expr* r : definitions_.returns(f)) values.push_back(r);
  if (values.empty() || isa<CXXConstructExpr>(made)) return whole;
  Value part;
  for (const Expr* r : values) {
    const auto parts = partsOf(r);
    if (!parts || i >= parts->size()) return whole;
    Value v = eval((*parts)[i]);
    if (v.kind == Kind::Rows && isCountedWhole((*parts)[i])) v = combined(v);
    meet(part, v);
    part = join(part, v);
  }
  return part.kind == Kind::None ? whole : part;
}

// `auto [actions, value] = net->forward(rows);` of a class of the author's: the field that a name stands for. Null for tuples and the framework's classes.
const MemberExpr* Kinds::fieldOf(const BindingDecl* b) const {
  const auto* m = b->getBinding() ? dyn_cast<MemberExpr>(strip(b->getBinding())) : nullptr;
  return m && code_.files().contains(m->getMemberDecl()->getLocation()) ? m : nullptr;
}

// Fields have their own kinds, whoever gave them their values: a constructor, an assignment, a list.
Value Kinds::partOf(const BindingDecl* b, const Expr* all, unsigned i) {
  const MemberExpr* field = fieldOf(b);
  return field ? eval(field) : partOf(all, i, all);
}

// `std::tie(out, std::tie(h, c)) = ...`: each variable gets its part.
void Kinds::assignTied(const Expr* target, const Expr* value, std::optional<Value> whole) {
  const auto* tie = dyn_cast<CallExpr>(strip(target));
  if (!tie || isa<CXXOperatorCallExpr>(tie)) return whole ? assign(target, *whole) : void();
  for (unsigned i = 0; i < tie->getNumArgs(); ++i) assignTied(tie->getArg(i), value, whole ? *whole : partOf(value, i, tie));
}

}  // namespace hvdize
