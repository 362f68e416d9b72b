// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/model.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluation_loops.h"
#include "rewriters/program/host.h"
#include "rewriters/program/shared_meanings.h"
#include "rewriters/program/sizes_written_again.h"
#include "rewriters/program/summed_losses.h"
#include "rewriters/program/training_calls.h"

using namespace clang;

namespace hvdize {

Model::Model(PassContext& c)
    : context(c), files(c.ast.getSourceManager(), c.frameworkFolder), code(c.ast, files), sites(code, c.dialect), definitions(code),
      memory(code, sites, definitions), threads(code, c.dialect), batches(code, sites, definitions), batchSize(findBatchSize()), kinds(deriveKinds()) {
  for (const Function& f : code.functions())
    if (f.decl->isMain()) main = f.decl;
  for (const Site& s : sites.of(Role::Backward))
    if (const Expr* loss = objectOf(s.call)) {
      Value kind = kinds.of(loss);
      if (kind.coupled && kind.isUniform()) kind.kind = Kind::Mean;  // each rank's part of its gradient is weighted as that of a mean
      backwards.push_back({s.call, loss, kind});
    }
  handUpdates = updatesByHand(*this);
  trains = !backwards.empty() && (!sites.of(Role::Step).empty() || !handUpdates.empty());
  // Where rates are not seen, they cannot follow the size of the batch.
  if (!handUpdates.empty() && !unknownBatch) unknownBatch = handUpdates.front().read;
  // A number of classes, say, does not follow the number of ranks, and it is the same number.
  if (!unknownBatch && !batchSize.places().empty()) unknownBatch = otherUse = otherUseOfBatchSize(*this);
  const SizesWrittenAgain again = sizesWrittenAgain(code, c.dialect, batches, definitions, batchSize);
  if (!unknownBatch) unknownBatch = countedOtherwise = again.fixed;
  writtenAgain = again.places;
  unclearSizes = again.unclear;
  writtenAgain.insert(kinds.sizesWrittenAgain().begin(), kinds.sizesWrittenAgain().end());
  if (!unknownBatch && !batchSize.places().empty()) unknownBatch = (overrun = overrunOf(*this)).at;
  batchNormSeen = usesBatchNorm();
  batchNorm = batchNormSeen || !kinds.opaqueForwards().empty();  // what is not seen may hold one
  findOptimizers();
  for (const OptimizerSite& o : optimizers)
    if (!unknownBatch && stepsItself(context.dialect.recordOf(o.construct->getType()))) unknownBatch = ownStep = o.construct;
  if (!unknownBatch && context.options.lrScaling == LrScaling::Auto) unknownBatch = ruleUnclear = withoutRule(*this);
  if (!unknownBatch && !context.options.batchesGrow && !backwards.empty()) unknownBatch = backwards.front().call;
  folderLoops.emplace(*this);
}

Kinds Model::deriveKinds() {
  llvm::DenseSet<const Expr*> sizes(batchSize.places().begin(), batchSize.places().end());
  // Those of evaluation are not multiplied, but in a shape they too mean the rows at hand.
  Quantity evaluated(definitions, Quantity::Changes::Absolute);
  const TrainingCalls calls(sites, definitions, batches);
  for (const LoaderLoop& l : batches.loaderLoops()) traceLoader(l.loader, evaluated, l.trains || l.inParts ? &calls : nullptr);
  sizes.insert(evaluated.places().begin(), evaluated.places().end());
  sizes.insert(batchSize.spared().begin(), batchSize.spared().end());
  const auto derive = [&] { return Kinds(batches, definitions, sites, sizes); };
  EvaluationLoops loops(batches, definitions, sites, context.edits);
  if (context.options.evaluation == EvaluationPolicy::Whole) return loops.keepWhole(derive, "as asked for");
  return loops.share(derive);
}

bool Model::usesBatchNorm() const {
  bool yes = false;
  for (const Root& r : code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      // Made here, or by a function of the framework.
      if (isa<CXXConstructExpr, CallExpr>(e)) yes = yes || context.dialect.is(e->getType(), Role::BatchNorm);
      // InstanceNorm2d(InstanceNorm2dOptions(8).track_running_stats(true)): its running statistics are those of the batches, too.
      const Entry* entry = isa<CXXMemberCallExpr>(e) ? context.dialect.lookup(e) : nullptr;
      const auto* flag = entry && entry->role == Role::BatchNorm && !argumentsOf(e).empty() ? dyn_cast<CXXBoolLiteralExpr>(strip(argumentsOf(e)[0])) : nullptr;
      yes = yes || (entry && entry->role == Role::BatchNorm && !argumentsOf(e).empty() && !(flag && !flag->getValue()));
    });
  for (const FieldDecl* f : code.fields()) yes = yes || context.dialect.is(f->getType(), Role::BatchNorm);
  return yes;
}

std::string Model::text(const Expr* e) const {
  // `parameters()` in a module's own function: its object has no text of its own, only a place, which is the function's name.
  if (const auto* self = dyn_cast<CXXThisExpr>(e->IgnoreParenImpCasts()); self && self->isImplicit()) return "this";
  return context.edits.text(e).str();
}

const Stmt* Model::statementOf(const Stmt* s) const {
  for (const Stmt* p = s; p; p = code.parent(p)) {
    const Stmt* up = code.parent(p);
    if (!up || isa<CompoundStmt, CaseStmt, DefaultStmt>(up)) return p;
    if (!isa<Expr>(p) || (!isa<Expr>(up) && !isa<DeclStmt>(up))) return p;
  }
  return s;
}

// A getter, say: its body computes and returns, and neither prints, nor will communicate, nor calls what does.
bool Model::pure(const Expr* call, llvm::DenseSet<const FunctionDecl*>& seen) const {
  for (const FunctionDecl* f : code.targets(call)) {
    if (!seen.insert(f->getCanonicalDecl()).second) return false;
    const Function* known = code.find(f);
    if (!known || !effectFreeBody(known->body, seen)) return false;
    bool acts = false;
    forEachExpr(known->body, [&](const Expr* x) {
      const HostRole role = hostRole(calleeOf(x));
      acts = acts || role == HostRole::Print || role == HostRole::PrintTo || role == HostRole::OpenFile;
      const auto* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      acts = acts || isConsoleStream(d) || isOutputFile(x->getType()) || context.dialect.is(x, Role::Save);
      // Running statistics are made those of all ranks before they are read.
      const Entry* entry = context.dialect.lookup(x);
      acts = acts || (entry && entry->role == Role::Buffers && batchNorm && !context.options.syncBatchNorm);
    });
    if (acts) return false;
  }
  return true;
}

bool Model::named(llvm::StringRef name) const { return context.ast.Idents.find(name) != context.ast.Idents.end(); }

std::string Model::freeName(llvm::StringRef wanted) const {
  std::string name = wanted.str();
  for (int n = 2; named(name); ++n) name = wanted.str() + std::to_string(n);
  return name;
}

std::string Model::variableFor(const Expr* e, llvm::StringRef base) {
  const SourceManager& sm = context.ast.getSourceManager();
  const auto offset = [&](SourceLocation l) { return sm.getFileOffset(sm.getSpellingLoc(l)); };
  const unsigned at = offset(e->getBeginLoc());
  const FunctionDecl* function = code.functionOf(e);
  const unsigned scope = function ? offset(function->getBeginLoc()) : 0;
  for (int n = 1;; ++n) {
    const std::string name = "hvd_" + base.str() + (n == 1 ? "" : std::to_string(n));
    if (named(name)) continue;
    const auto [it, fresh] = hoistedNames.emplace(std::pair(scope, name), at);
    if (fresh || it->second == at) return name;
  }
}

bool Model::effectFree(const Expr* e) const { return effectFreeIn(e); }

bool Model::mayNameAgain(const Expr* e) const {
  if (!e || effectFree(e)) return true;
  const Expr* x = strip(e);
  if (const auto* member = dyn_cast<MemberExpr>(x)) return mayNameAgain(member->getBase());
  if (const auto* u = dyn_cast<UnaryOperator>(x)) return (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf) && mayNameAgain(u->getSubExpr());
  if (const auto* s = dyn_cast<ArraySubscriptExpr>(x)) return mayNameAgain(s->getBase()) && mayNameAgain(s->getIdx());
  const auto* o = dyn_cast<CXXOperatorCallExpr>(x);
  if (!o || !code.targets(o).empty() || (o->getOperator() != OO_Subscript && o->getOperator() != OO_Star && o->getOperator() != OO_Arrow)) return false;
  return llvm::all_of(o->arguments(), [&](const Expr* a) { return mayNameAgain(a); });
}

bool Model::effectFreeIn(const Stmt* s) const {
  llvm::DenseSet<const FunctionDecl*> seen;
  return effectFreeBody(s, seen);
}

bool Model::effectFreeButFiles(const Stmt* s) const {
  llvm::DenseSet<const FunctionDecl*> seen;
  return effectFreeBody(s, seen, true);
}

bool Model::effectFreeBody(const Stmt* s, llvm::DenseSet<const FunctionDecl*>& seen, bool filesToo) const {
  bool free = true;
  // An object that is made in here, and nothing else knows; what points into another one (`list.begin()`) belongs to that.
  std::function<bool(const Expr*)> isOwn = [&](const Expr* e) {
    e = strip(e);
    const auto* v = dyn_cast_or_null<VarDecl>(rootOf(e));
    if (isa<CXXConstructExpr>(e) || (calleeOf(e) && !e->isLValue())) {
      if (const Expr* object = objectOf(e)) return isOwn(object);
      return llvm::all_of(argumentsOf(e), [&](const Expr* a) { return a->getType()->isArithmeticType() || isOwn(a); });
    }
    // A variable of the function's that nothing outside of these statements asks for.
    if (filesToo && v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType() && !definitions.uses(v).empty() &&
        llvm::all_of(definitions.uses(v), [&](const Expr* use) { return isWithin(code, use, s); }))
      return true;
    const DeclStmt* ds = v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType() && !v->getType()->isPointerType() ? code.declStmt(v) : nullptr;
    return ds && isWithin(code, ds, s);
  };
  // std::string(std::move(text_)), std::istreambuf_iterator<char>(file): what is there has gone.
  const auto takesAway = [&](const CXXConstructExpr* k) {
    const auto given = argumentsOf(k);
    if (given.empty()) return false;
    const CXXRecordDecl* made = k->getType()->getAsCXXRecordDecl();
    const bool reads = made && made->isInStdNamespace() && (made->getName() == "istreambuf_iterator" || made->getName() == "istream_iterator") && !k->getConstructor()->isCopyOrMoveConstructor();
    if (reads) return !isOwn(given[0]);
    if (!k->getConstructor()->isMoveConstructor()) return false;
    const Expr* moved = given[0]->IgnoreParenImpCasts();
    const FunctionDecl* by = calleeOf(moved);
    return by && by->isInStdNamespace() && calleeName(moved) == "move" && !argumentsOf(moved).empty() && !isOwn(argumentsOf(moved)[0]);
  };
  // A library's function that changes its object or an argument: an engine that is drawn from, a map that gets a new key, x.clamp_(0, 1).
  const auto changesWhatIsThere = [&](const Expr* x, const FunctionDecl* f) {
    if (const auto* k = dyn_cast<CXXConstructExpr>(x)) return takesAway(k);
    if (!code.targets(x).empty()) return false;
    const bool named = f->getDeclName().isIdentifier();
    if (context.dialect.owns(f)) {
      const Expr* changed = !named || f->getName().size() < 2 || !f->getName().ends_with("_") ? nullptr : objectOf(x) ? objectOf(x) : argumentsOf(x).empty() ? nullptr : argumentsOf(x)[0];
      return changed && !isOwn(changed);
    }
    if (!isSystemDecl(f) || !mayChange(f)) return false;
    if (const auto* m = dyn_cast<CXXMethodDecl>(f); m && !m->isStatic() && !(objectOf(x) && isOwn(objectOf(x)))) return true;
    const auto arguments = argumentsOf(x);
    const bool shows = f->isVariadic() && named && f->getName().ends_with("printf");  // snprintf(path, size, "%s/%s", folder, name)
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const QualType t = parameterOf(x, i) ? parameterOf(x, i)->getType() : QualType();
      if (t.isNull() && shows) continue;
      const bool out = t.isNull() || ((t->isLValueReferenceType() || t->isPointerType()) ? !t->getPointeeType().isConstQualified() : t->isRecordType() || t->isRValueReferenceType());
      if (out && !isOwn(arguments[i]) && !arguments[i]->isNullPointerConstant(context.ast, Expr::NPC_ValueDependentIsNull)) return true;
    }
    return false;
  };
  forEachExpr(s, [&](const Expr* x) {
    if (const auto* r = dyn_cast<DeclRefExpr>(x); r && isConsoleInput(r->getDecl())) free = false;
    if ((kinds.reductions().count(x) && !hoisted.count(x)) || kinds.countedMeans().count(x) || isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr, CXXThrowExpr>(x)) free = false;
    if (const auto* b = dyn_cast<BinaryOperator>(x); b && b->isAssignmentOp()) free = free && filesToo && isOwn(b->getLHS());
    if (const auto* u = dyn_cast<UnaryOperator>(x); u && u->isIncrementDecrementOp()) free = free && filesToo && isOwn(u->getSubExpr());
    const FunctionDecl* f = calleeOf(x);
    if (!f) {
      if (isa<CallExpr>(x)) free = false;
      return;
    }
    if (changesWhatIsThere(x, f)) free = free && filesToo && f->getDeclName().isIdentifier() && f->getName() == "readdir";
    if (const HostRole said = hostRole(f); said == HostRole::Pure || (said == HostRole::Print && hasNoAddress(f))) return;
    if (!code.targets(x).empty() && !isa<CXXConstructExpr>(x)) {
      free = free && pure(x, seen);
      return;
    }
    if (const Entry* entry = context.dialect.lookup(f)) {
      switch (entry->role) {
        case Role::NoEffect: case Role::ArchiveWrite: case Role::DatasetSize: case Role::LoaderSize: case Role::BatchSizeRead: case Role::LrRead: case Role::Access: case Role::Op:
        case Role::Parameters: case Role::Buffers: case Role::TensorOptions: case Role::LossOptions: break;
        case Role::Save: free = free && !memory.concerns(x); break;
        case Role::ModuleOptions: free = free && (!objectOf(x) || !rootOf(objectOf(x))); break;  // setters of options that are made there
        default: free = free && isa<CXXConstructExpr>(x);
      }
      return;
    }
    if (const auto* m = dyn_cast<CXXMethodDecl>(f); m && !isa<CXXConstructorDecl>(m)) {
      return;
    }
    const HostRole role = hostRole(f);
    if (filesToo && role == HostRole::FileChange) return;
    if (role == HostRole::DrawsC || role == HostRole::Exit || role == HostRole::ReadInput || role == HostRole::Shell || role == HostRole::OpenPipe ||
        role == HostRole::FileChange || role == HostRole::PictureWrite || role == HostRole::SeedC || role == HostRole::Entropy)
      free = false;
    if (!isSystemDecl(f) && !context.dialect.owns(f) && !isa<CXXConstructorDecl>(f)) free = false;
  });
  return free;
}

}  // namespace hvdize
