// SPDX-License-Identifier: Apache-2.0
// How many dimensions the tensors of a batch have: through parameters, layers, and the data set that a loader takes its samples from.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"
#include "rewriters/program/ranks.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kForEachHand = 3;  // from function to function it does not go far

// The classes that a type is made of: a loader's, its data set's, its sampler's.
void classesIn(QualType type, llvm::SmallVectorImpl<const CXXRecordDecl*>& out, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  const CXXRecordDecl* record = type.isNull() || depth > kDeepest ? nullptr : type->getAsCXXRecordDecl();
  if (!record) return;
  out.push_back(record);
  if (const auto* c = dyn_cast<ClassTemplateSpecializationDecl>(record))
    for (const TemplateArgument& a : c->getTemplateArgs().asArray())
      if (a.getKind() == TemplateArgument::Type) classesIn(a.getAsType(), out, depth + 1);
}

// A transformation by a function of the author's, which may add dimensions.
bool holdsFunction(const CXXRecordDecl* record) {
  return record->hasDefinition() && llvm::any_of(record->fields(), [](const FieldDecl* f) { return isStdFunction(f->getType()); });
}

const CXXMethodDecl* sampleReader(const CXXRecordDecl* record) {
  for (const CXXMethodDecl* m : record->methods())
    if (m->getDeclName().isIdentifier() && m->getName() == "get" && m->param_size() == 1) return m;
  return nullptr;
}

}  // namespace

int TensorRanks::ofBatch(const Expr* e, const BatchView& view) const {
  TensorRanks seeing(*this);
  seeing.view_ = &view;
  return seeing.exact(e, 0);
}

// What all of these have that are batches; -1 where one of them is not known, or there is none.
int TensorRanks::agreed(llvm::ArrayRef<const Expr*> values, unsigned depth) const {
  int rank = -1;
  for (const Expr* value : values) {
    if (!view_->isBatch(value)) continue;
    const int n = exact(value, depth);
    if (n < 0 || (rank >= 0 && n != rank)) return -1;
    rank = n;
  }
  return rank;
}

// `batch.data` of a loader's batch: the dimensions of a sample of its data set, and one more for the samples.
int TensorRanks::exactOfData(const MemberExpr* field, unsigned depth) const {
  const auto* batch = dyn_cast_or_null<VarDecl>(declOf(field->getBase()));
  const Entry* fields = dialect_.lookup(field->getBase()->getType());
  if (!batch || !batch->isCXXForRangeDecl() || !fields || fields->role != Role::Batch) return -1;
  const auto at = llvm::find_if(fields->fields, [&](const std::string& name) { return field->getMemberDecl()->getName() == name; });
  const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(code_.declStmt(batch) ? code_.parent(code_.declStmt(batch)) : nullptr);
  const CXXRecordDecl* loader = loop && loop->getRangeInit() ? dialect_.recordOf(loop->getRangeInit()->getType()) : nullptr;
  if (at == fields->fields.end() || !loader || !dialect_.is(loader, Role::Loader)) return -1;
  llvm::SmallVector<const CXXRecordDecl*, 8> parts;
  classesIn(code_.context().getRecordType(loader), parts);
  int rank = -1;
  for (const CXXRecordDecl* part : parts) {
    const Entry* known = dialect_.lookup(part);
    const bool data = known && known->role == Role::Dataset;
    int n = -1;
    if (holdsFunction(part)) return -1;
    if (!code_.files().contains(part->getLocation())) {
      n = data && at == fields->fields.begin() ? known->arg : -1;
      if (n < 0) continue;  // a sampler, or what stacks samples
    } else {
      const CXXMethodDecl* get = data ? sampleReader(part) : nullptr;
      if (!get) return -1;  // a transformation of the author's may add dimensions
      int sample = -1;
      for (const Expr* returned : definitions_.returns(get)) {
        const int one = exactOfPart(returned, static_cast<unsigned>(at - fields->fields.begin()), depth + kForEachHand);
        if (one < 0 || (sample >= 0 && sample != one)) return -1;
        sample = one;
      }
      n = sample < 0 ? -1 : sample + 1;
    }
    if (n < 0 || (rank >= 0 && rank != n)) return -1;
    rank = n;
  }
  return rank;
}

int TensorRanks::exactOfBatch(const Expr* e, unsigned depth) const {
  if (const auto* m = dyn_cast<MemberExpr>(e)) return exactOfData(m, depth);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return agreed({c->getTrueExpr(), c->getFalseExpr()}, depth + 1);
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    bool start = false;
    const auto values = v && v->isLocalVarDeclOrParm() && !v->isCXXForRangeDecl() ? reaching(v, e, start) : std::nullopt;
    if (!values) return -1;
    llvm::SmallVector<const Expr*, 4> all(values->begin(), values->end());
    if (start) {
      const auto given = view_->givenTo(cast<ParmVarDecl>(v));
      if (!given) return -1;
      all.append(given->begin(), given->end());
    }
    return agreed(all, depth + kForEachHand);
  }
  const FunctionDecl* f = calleeOf(e);
  if (!f) return -1;
  if (const auto targets = view_->runBy(e); !targets.empty()) {
    llvm::SmallVector<const Expr*, 4> returned;
    for (const FunctionDecl* t : targets) returned.append(definitions_.returns(t).begin(), definitions_.returns(t).end());
    return agreed(returned, depth + kForEachHand);
  }
  const Entry* entry = dialect_.lookup(e);
  const Expr* object = objectOf(e);
  const auto arguments = argumentsOf(e);
  if (entry && entry->role == Role::Forward && object && arguments.size() == 1) {
    const auto is = [&](Role role) { return dialect_.is(object->getType(), role); };
    if (takesEach(e, "indices")) {
      const int n = exact(arguments[0], depth + 1);
      return n < 0 ? -1 : n + 1;
    }
    const Entry* layer = dialect_.lookup(object->getType());
    if (layer && layer->role == Role::LayerOfRank) return layer->arg;
    return keepsDimensions(e) || is(Role::KeepsShape) || is(Role::Dropout) || is(Role::LayerAlong) || is(Role::BatchNorm) ? exact(arguments[0], depth + 1) : -1;
  }
  const bool flattens = entry && entry->role == Role::Op && entry->op == OpKind::Reshape && calleeName(e) == "flatten";
  const unsigned from = object ? 0 : 1;
  Expr::EvalResult r;
  if (flattens && arguments.size() > from && !isa<CXXDefaultArgExpr>(arguments[from]) && !arguments[from]->isValueDependent() && arguments[from]->EvaluateAsInt(r, code_.context()))
    if ((arguments.size() == from + 1 || isa<CXXDefaultArgExpr>(arguments[from + 1])) && r.Val.getInt().getExtValue() == 1) return 2;  // the samples, and all the rest
  return -1;
}

}  // namespace hvdize
