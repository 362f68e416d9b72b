// SPDX-License-Identifier: Apache-2.0
// Weights at each backward, the reduction before anything reads gradients, overlap, initial broadcast and loads.
#include <set>

#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/closures.h"
#include "rewriters/passes/gradient_reads.h"
#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// How the optimizer of a step, or one whose gradients are read, is named there; a pointer is as good as an object.
const Expr* optimizerOf(const Site& site) {
  if (site.entry->optimizer < 0) return objectOf(site.call);
  const auto arguments = argumentsOf(site.call);  // of a gradient scaler that is given the optimizer
  return site.entry->optimizer < static_cast<int>(arguments.size()) ? arguments[site.entry->optimizer] : nullptr;
}

std::string optimizerAt(const Model& m, const Site& site) {
  const Expr* object = optimizerOf(site);
  return object && m.mayNameAgain(object) ? m.text(object) : "";
}

const CompoundStmt* blockOf(const Model& m, const Stmt* s) {
  for (const Stmt* p = s; p; p = m.code.parent(p))
    if (const auto* c = dyn_cast_or_null<CompoundStmt>(m.code.parent(p)); c && !isa<Expr>(p)) return c;
    else if (c) return c;
  return nullptr;
}

unsigned indexIn(const Model& m, const CompoundStmt* block, const Stmt* s) {
  unsigned i = 0;
  for (const Stmt* c : block->body()) {
    for (const Stmt* p = s; p; p = m.code.parent(p))
      if (p == c) return i;
    ++i;
  }
  return ~0u;
}

// The steps behind a gradient read in its block, up to the next backward pass: the gradients of these optimizers it may see.
std::vector<std::string> stepsBehind(const Model& m, const Site& read) {
  const CompoundStmt* block = blockOf(m, read.call);
  const unsigned from = block ? indexIn(m, block, read.call) : 0;
  std::vector<std::pair<unsigned, std::string>> found, later;
  for (const Site& s : m.sites.of(Role::Step)) {
    if (!block || s.function != read.function || blockOf(m, s.call) != block) continue;
    const unsigned at = indexIn(m, block, s.call);
    if (at <= from) continue;
    unsigned i = 0;
    bool backward = false;
    for (const Stmt* c : block->body()) {
      backward = backward || (i > from && i <= at && m.sites.reaches(c, Role::Backward));
      ++i;
    }
    (backward ? later : found).emplace_back(at, optimizerAt(m, s));
  }
  if (found.empty() && !later.empty()) found.push_back(*llvm::min_element(later));
  llvm::stable_sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [at, name] : found)
    if (!llvm::is_contained(names, name)) names.push_back(name);
  return names;
}

// The model whose gradients are read, as it is spelled, when its parameters are asked for right there: a list may hold more.
std::string modelRead(const Model& m, const Site& read) {
  const auto arguments = argumentsOf(read.call);
  if (read.entry->arg < 0 || read.entry->arg >= static_cast<int>(arguments.size())) return "";
  const Expr* asked = strip(arguments[read.entry->arg]);
  const Expr* object = calleeOf(asked) && m.context.dialect.is(asked, Role::Parameters) ? objectOf(asked) : nullptr;
  return object ? m.text(object) : "";
}

// `for (auto& group : opt.param_groups()) for (auto& p : group.params())` around a read: the optimizer, however far away it steps.
std::string optimizerIterated(const Model& m, const Site& read) {
  for (const Stmt* s = read.call; s; s = m.code.parent(s)) {
    const auto* loop = dyn_cast<CXXForRangeStmt>(s);
    const Expr* of = nullptr;
    if (loop)
      forEachExpr(loop->getRangeInit(), [&](const Expr* e) {
        if (const Expr* object = calleeOf(e) ? objectOf(e) : nullptr; !of && object && m.context.dialect.is(object->getType(), Role::Optimizer)) of = object;
      });
    if (of) return m.mayNameAgain(of) ? m.text(of) : "";
  }
  return "";
}

// The optimizers that a gradient read belongs to: those that step behind it, else the only one that steps in the function. Of several the
// one that was made for the model that is read; all, where that is not known.
std::vector<std::string> optimizersForRead(const Model& m, const Site& read) {
  if (read.entry->optimizer >= 0) return {optimizerAt(m, read)};
  for (const Site& s : m.sites.of(Role::Step))
    if (isInClosure(m, read.call, s)) return {optimizerAt(m, s)};
  const std::vector<std::string> behind = stepsBehind(m, read);
  if (behind.size() > 1) {
    const std::string model = modelRead(m, read);
    std::vector<std::string> owners;
    for (const std::string& name : behind)
      if (llvm::any_of(m.optimizers, [&](const OptimizerSite& o) { return o.name == name && !model.empty() && o.model == model; })) owners.push_back(name);
    return owners.empty() ? behind : owners;
  }
  if (!behind.empty()) return behind;
  std::string inFunction;
  bool several = false;
  for (const Site& s : m.sites.of(Role::Step)) {
    if (s.function != read.function) continue;
    const std::string name = optimizerAt(m, s);
    several = several || (!inFunction.empty() && inFunction != name);
    inFunction = name;
  }
  if (!inFunction.empty() && !several) return {inFunction};
  if (!several && read.function)
    for (const ParmVarDecl* p : read.function->parameters())
      if (m.context.dialect.is(p->getType(), Role::Optimizer)) return {p->getNameAsString()};
  if (const std::string iterated = optimizerIterated(m, read); !iterated.empty()) return {iterated};
  return {};
}

// Where gradients are read in a loop over parameters or under a condition: the statement around it that stands beside the step, unless
// a backward runs in it too. The reduction belongs before that, once.
const Stmt* beforeRead(const Model& m, const Site& read) {
  for (const Site& s : m.sites.of(Role::Step)) {
    if (s.function != read.function) continue;
    const CompoundStmt* block = blockOf(m, s.call);
    for (const Stmt* p = read.call; p && block; p = m.code.parent(p))
      if (m.code.parent(p) == block && indexIn(m, block, p) < indexIn(m, block, s.call) && !m.sites.reaches(p, Role::Backward)) return p;
  }
  // Elsewhere: once before a loop over the parameters, not once for each of them.
  const Stmt* before = read.call;
  for (const Stmt* loop : m.sites.loopsAround(read.call)) {
    if (m.sites.reaches(loop, Role::Backward) || m.sites.reaches(loop, Role::Step)) break;
    before = loop;
  }
  return before;
}

// Is this a function of a program with a main that nothing calls or names: one of a collection of helpers?
bool isIdle(const Model& m, const FunctionDecl* f) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
  if (!m.main || !f || f == m.main || (method && (method->isVirtual() || method->getParent()->isLambda())) || !m.code.callers(f).empty()) return false;
  bool named = false;
  for (const Root& root : m.code.roots())
    forEachExpr(root.code, [&](const Expr* e) {
      const auto* r = dyn_cast<DeclRefExpr>(e);
      named = named || (r && isa<FunctionDecl>(r->getDecl()) && r->getDecl()->getCanonicalDecl() == f->getCanonicalDecl());
    });
  return !named;
}

// `class Sam { ...; Optimizer inner_; }` climbs along gradients in one function and steps in another: the program's only optimizer,
// where it is a member of the class whose function reads.
std::string memberOptimizer(const Model& m, const Site& read) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(read.function);
  if (!method || method->isStatic() || method->getParent()->isLambda() || m.optimizers.size() != 1) return "";
  std::vector<std::string> members;
  for (const FieldDecl* f : method->getParent()->fields())
    if (m.context.dialect.is(f->getType(), Role::Optimizer)) members.push_back(f->getNameAsString());
  return members.size() == 1 && members.front() == m.optimizers.front().name ? members.front() : "";
}

// `clip_grad_norm_(..); ahead.step();`, where a class of the program's own makes the step: the program's only optimizer, made in a block around the read.
std::string onlyOptimizer(const Model& m, const Site& read) {
  const OptimizerSite* o = m.optimizers.size() == 1 ? &m.optimizers.front() : nullptr;
  if (!o || !isa_and_nonnull<DeclStmt>(o->statement) || !m.context.edits.canEdit(read.call->getSourceRange())) return "";
  if (m.code.functionOf(o->construct) != m.code.functionOf(read.call)) return "";
  if (!m.context.ast.getSourceManager().isBeforeInTranslationUnit(o->statement->getEndLoc(), read.call->getBeginLoc())) return "";
  const Stmt* around = m.code.parent(o->statement);
  for (const Stmt* p = read.call; p; p = m.code.parent(p))
    if (p == around) return o->name;
  return "";
}

bool namesNone(const std::vector<std::string>& optimizers) { return optimizers.empty() || llvm::is_contained(optimizers, std::string()); }

// Where the gradients that `read` looks at must be whole: there, or, in a function that clips what it is given, at its calls. `inside`: the backward pass
// is in the function, so that its calls are too early.
void readPlaces(const Model& m, const Site& read, std::vector<Site>& out, llvm::DenseSet<const void*>& seen, bool& open, bool& inside) {
  const bool steps = llvm::any_of(m.sites.of(Role::Step), [&](const Site& s) { return s.function == read.function; });
  if (steps || !optimizersForRead(m, read).empty() || !onlyOptimizer(m, read).empty()) return out.push_back(read);
  if (read.function && m.sites.functionReaches(read.function, Role::Backward)) inside = true;
  if (inside) return;
  const auto callers = read.function ? m.code.callers(read.function) : llvm::ArrayRef<CallSite>();
  open = open || (callers.empty() && !isIdle(m, read.function));
  if (!read.function || !seen.insert(read.function->getCanonicalDecl()).second) return;
  for (const CallSite& c : callers) {
    Site at = read;
    at.call = c.call;
    at.function = m.code.functionOf(c.call);
    readPlaces(m, at, out, seen, open, inside);
  }
}

using Reduced = std::vector<std::pair<const Stmt*, std::string>>;

// Is the last statement with a reduction before `s` in its block not followed by another backward?
bool alreadyReduced(const Model& m, const Stmt* s, const std::string& optimizer, const Reduced& done) {
  const CompoundStmt* block = blockOf(m, s);
  if (!block || isa_and_nonnull<SwitchStmt>(m.code.parent(block))) return false;  // another case, perhaps
  const unsigned at = indexIn(m, block, s);
  for (const auto& [e, name] : done) {
    if (blockOf(m, e) != block || name != optimizer || indexIn(m, block, e) > at) continue;
    // Alone in a branch, `if (first) keep(p.grad()); else add(p.grad());`, it says nothing of what is not in that branch.
    const Stmt* placed = m.statementOf(e);
    if (!isa_and_nonnull<CompoundStmt>(m.code.parent(placed)) && !isWithin(m.code, s, placed)) continue;
    bool backwardBetween = false;
    unsigned i = 0;
    for (const Stmt* c : block->body()) {
      // The last one may hold a backward of its own: `loss.backward(), optimizer.step();`; what stands in front of a statement is in front of the one in it.
      const bool inFront = i == indexIn(m, block, e) && i < at && c == e;
      if (((i > indexIn(m, block, e) && i <= at) || inFront) && m.sites.reaches(c, Role::Backward)) backwardBetween = true;
      ++i;
    }
    if (!backwardBetween) return true;
  }
  return false;
}

// Does control leave the block somewhere in `s` (a lambda is another function; an exception ends the job)?
bool mayLeave(const Stmt* s) {
  if (!s || isa<LambdaExpr>(s)) return false;
  if (isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt, IndirectGotoStmt>(s)) return true;
  for (const Stmt* c : s->children())
    if (mayLeave(c)) return true;
  return false;
}

// `loss.backward(), optimizer.step();`: a line before the statement would come before the backward pass.
bool sharesStatementWithBackward(const Model& m, const Stmt* s) {
  const Stmt* statement = m.context.edits.enclosingStatement(s);
  return isa<Expr>(s) && (!statement || (isa<Expr>(statement) && m.sites.reaches(statement, Role::Backward)));
}

// Is an exception in a step caught where training goes on: in a loop, or in a function that may be called again? A program that ends behind the
// handler has no further backward.
bool goesOnAfterException(const Model& m) {
  bool yes = false;
  for (const Root& root : m.code.roots()) {
    const auto walk = [&](auto&& self, const Stmt* s) -> void {
      if (!s || isa<LambdaExpr>(s) || yes) return;
      if (const auto* tried = dyn_cast<CXXTryStmt>(s); tried && m.sites.reaches(tried->getTryBlock(), Role::Backward)) {
        const auto* block = dyn_cast_or_null<CompoundStmt>(m.code.parent(tried));
        bool behind = false, again = root.in != m.main || !m.sites.loopsAround(tried).empty() || !block;
        if (block)
          for (const Stmt* c : block->body()) {
            again = again || (behind && m.sites.reaches(c, Role::Backward));
            behind = behind || c == tried;
          }
        yes = yes || again;
      }
      for (const Stmt* c : s->children()) self(self, c);
    };
    walk(walk, root.code);
  }
  return yes;
}

// An optimizer that a class makes for its parameters: several objects have one each, and a pass through the model of another, a target network of the same
// class, gives that gradients, too, which none of its steps reads.
bool isOfSeveralObjects(const Model& m, const Expr* construct) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(m.code.functionOf(construct));
  const Constructions constructions(m.code);
  const CXXRecordDecl* record = method && !method->getParent()->isLambda() ? method->getParent() : constructions.evaluating(construct);
  llvm::DenseSet<const void*> places;
  if (record)
    for (const Expr* place : constructions.of(record)) places.insert(place->getBeginLoc().getPtrEncoding());
  return places.size() > 1;
}

// One backward and one step, both statements of one block, and no way out between them that training goes on from: every backward is followed by one reduction.
bool mayOverlap(const Model& m) {
  llvm::DenseSet<const void*> backwards, steps;
  for (const BackwardSite& b : m.backwards) backwards.insert(b.call->getBeginLoc().getPtrEncoding());
  for (const Site& s : m.sites.of(Role::Step)) steps.insert(s.call->getBeginLoc().getPtrEncoding());
  if (backwards.size() != 1 || steps.size() != 1 || m.optimizers.size() != 1 || goesOnAfterException(m) || isOfSeveralObjects(m, m.optimizers.front().construct)) return false;
  const Expr *backward = m.backwards.front().call, *step = m.sites.of(Role::Step).front().call;
  const CompoundStmt* block = blockOf(m, backward);
  if (!block || block != blockOf(m, step)) return false;
  const unsigned first = indexIn(m, block, backward), last = indexIn(m, block, step);
  unsigned i = 0;
  for (const Stmt* c : block->body()) {
    const bool between = i > first && i < last;
    if ((i == first || i == last) && !isa<Expr>(c)) return false;  // under a condition, or in a loop
    if (between && mayLeave(c)) return false;
    ++i;
  }
  return first < last;
}

// `loss->backward()`, of an optional or a pointer: the access. Null for loss.backward().
const MemberExpr* arrowOf(const Expr* backward) {
  const auto* call = dyn_cast<CXXMemberCallExpr>(backward);
  const auto* member = call ? dyn_cast<MemberExpr>(call->getCallee()->IgnoreParenImpCasts()) : nullptr;
  return member && member->isArrow() && !isa<CXXThisExpr>(member->getBase()->IgnoreImplicit()) ? member : nullptr;
}

// What stands in front of `.backward()`, or the pointer in front of `->backward()`.
const Expr* lossAt(const BackwardSite& b, const MemberExpr* arrow) {
  if (arrow) {
    const auto* access = dyn_cast<CXXOperatorCallExpr>(arrow->getBase()->IgnoreImplicit());
    return access && access->getOperator() == OO_Arrow ? access->getArg(0) : arrow->getBase();
  }
  const auto* call = dyn_cast<CXXMemberCallExpr>(b.call);
  const auto* deref = call ? dyn_cast<ParenExpr>(call->getImplicitObjectArgument()->IgnoreImplicit()) : nullptr;
  return deref ? deref->getSubExpr() : b.loss;  // (*loss).backward()
}

}  // namespace

void reduceGradients(Model& m) {
  // A loss free of samples has the same gradient on every rank: among others it is taken once, by shares like a mean.
  const bool anyOfSamples = llvm::any_of(m.backwards, [](const BackwardSite& b) { return !b.kind.isUniform(); });
  for (const BackwardSite& b : m.backwards) {
    std::string kind = b.kind.kind == Kind::Sum ? "hvd::LossKind::sum" : "hvd::LossKind::mean";
    if (b.kind.kind == Kind::CountMean) kind = "hvd::LossKind::counted(" + countAt(m, b.kind, b.loss) + ")";
    if (b.kind.isUniform() && !anyOfSamples) continue;
    m.context.diags.report(DiagID::LossKindFound, b.loss->getSourceRange(), kindName(b.kind.kind));
    const Why why{DiagID::LossKindFound, "this slice's weight in the batch"};
    const MemberExpr* arrow = arrowOf(b.call);
    m.context.edits.wrap(lossAt(b, arrow), arrow ? "hvd::weighted(*" : "hvd::weighted(", ", " + kind + ")", why);
    if (arrow) m.context.edits.replace(SourceRange(arrow->getOperatorLoc(), arrow->getOperatorLoc()), ".", why);
  }
  Reduced done;
  const auto reduce = [&](const Stmt* before, const std::string& optimizer, const char* what) {
    m.context.diags.report(DiagID::GradientsReduced, before->getSourceRange(), what);
    if (sharesStatementWithBackward(m, before)) {
      if (m.context.edits.wrap(cast<Expr>(before), "(hvd::reduce_gradients(" + optimizer + "), ", ")", {DiagID::GradientsReduced, "gradients of the whole batch"}))
        done.emplace_back(before, optimizer);
    } else if (m.context.edits.insertBefore(before, "hvd::reduce_gradients(" + optimizer + ");", {DiagID::GradientsReduced, "gradients of the whole batch"}))
      done.emplace_back(before, optimizer);
  };
  if (!m.handUpdates.empty()) return reduceUpdatedByHand(m);
  struct Place {
    Site read;
    std::vector<std::string> optimizers;
  };
  std::vector<Place> places;
  for (const Site& s : m.sites.of(Role::GradRead)) {
    // Gradients of inputs: each rank has those of its samples.
    if (const Expr* object = s.entry->arg < 0 && s.entry->optimizer < 0 ? objectOf(s.call) : nullptr; object && m.kinds.of(object).dependsOnSamples()) continue;
    if (isOfNoOptimizer(m, s)) {
      m.context.diags.report(DiagID::GradientsElsewhere, s.call->getSourceRange(), "'" + m.text(s.call) + "' is of a tensor that no optimizer has");
      continue;
    }
    llvm::DenseSet<const void*> seen;
    bool open = false, inside = false;
    std::vector<Site> found;
    readPlaces(m, s, found, seen, open, inside);
    if (inside) {
      const std::string member = memberOptimizer(m, s);
      const std::string parameters = member.empty() ? parametersRead(m, s, beforeRead(m, s)) : member;
      if (parameters.empty()) m.context.diags.report(DiagID::UnresolvedOptimizer, s.call->getSourceRange(), "gradients are read here, behind a backward pass, and no step is near");
      else places.push_back({s, {parameters}});
      continue;
    }
    const bool named = !open && llvm::none_of(found, [&](const Site& p) { return namesNone(optimizersForRead(m, p)); });
    if (const std::string member = named ? "" : memberOptimizer(m, s); !member.empty()) {
      places.push_back({s, {member}});
      continue;
    }
    for (const Site& p : found) {
      places.push_back({p, optimizersForRead(m, p)});
      if (const std::string other = m.context.dialect.reducesParameters() && readsAnotherModel(m, s, places.back().optimizers) ? parametersRead(m, s, beforeRead(m, s)) : ""; !other.empty()) {
        places.back() = {s, {other}};
        break;
      }
      if (namesNone(places.back().optimizers)) places.back().optimizers = {onlyOptimizer(m, p)};
    }
    if (open) m.context.diags.report(DiagID::UnresolvedOptimizer, s.call->getSourceRange(), "gradients are read here, and no step is near");
  }
  const SourceManager& sm = m.context.ast.getSourceManager();
  llvm::stable_sort(places, [&](const Place& a, const Place& b) {
    return sm.isBeforeInTranslationUnit(a.read.call->getBeginLoc(), b.read.call->getBeginLoc());
  });
  for (const auto& [s, optimizers] : places) {
    if (namesNone(optimizers)) {
      m.context.diags.report(DiagID::UnresolvedOptimizer, s.call->getSourceRange(), "gradients are read here, and no step is near");
      continue;
    }
    const Stmt* before = beforeRead(m, s);
    for (const std::string& optimizer : optimizers)
      if (!alreadyReduced(m, before, optimizer, done)) reduce(before, optimizer, "they are read");
  }
  for (const Site& s : m.sites.of(Role::Step)) {
    const std::string optimizer = optimizerAt(m, s);
    if (const ReturnStmt* end = closureEnd(m, s)) {
      if (!alreadyReduced(m, end, optimizer, done)) reduce(end, optimizer, "the closure gives the loss to the step");
      continue;
    }
    if (alreadyReduced(m, s.call, optimizer, done)) continue;
    if (optimizer.empty()) m.context.diags.report(DiagID::UnresolvedOptimizer, s.call->getSourceRange(),
                                                  optimizerOf(s) ? "what names it does more than that, each time (keep the optimizer in a variable)" : "it has no name here");
    else reduce(s.call, optimizer, "the optimizer steps");
  }
}

void broadcastState(Model& m) {
  broadcastUpdatedByHand(m);
  if (m.optimizers.empty())
    for (const Site& s : m.sites.of(Role::Step))
      m.context.diags.report(DiagID::UnresolvedOptimizer, s.call->getSourceRange(), "its construction is not visible here");
  const bool syncBn = m.context.options.syncBatchNorm && m.batchNorm;
  std::set<std::pair<const Stmt*, std::string>> placed;
  for (const OptimizerSite& o : m.optimizers) {
    if (o.name.empty()) {
      m.context.diags.report(DiagID::UnresolvedOptimizer, o.construct->getSourceRange(), "it is made without a name");
      continue;
    }
    // A function that makes one of several gives them all the same name.
    if (!placed.insert({o.statement ? static_cast<const Stmt*>(o.statement) : o.body, o.name}).second) continue;
    std::string code;
    if (syncBn) {  // where the optimizer's parameters are in a list, no model has a name here
      m.context.diags.report(DiagID::SyncBatchNormAdded, o.construct->getSourceRange(), o.model.empty() ? "all models" : "'" + o.model + "'");
      code += "hvd::sync_batchnorm(" + o.model + ");\n";
    }
    code += "hvd::broadcast(" + (o.model.empty() ? "" : o.model + ", ") + o.name + ");";
    if (!o.model.empty() && mayOverlap(m)) {
      m.context.diags.report(DiagID::GradientsOverlapped, o.construct->getSourceRange(), o.model);
      code += "\nhvd::overlap(" + o.model + ", " + o.name + ");  // reduce each bucket while backward still runs";
    }
    m.context.diags.report(DiagID::InitialBroadcast, o.construct->getSourceRange());
    const Why why{DiagID::InitialBroadcast, "all ranks start alike"};
    // At the end of a constructor the model is on its device and loaded; one that trains needs it before.
    if (o.body && (o.atStart || m.sites.reaches(o.body, Role::Backward))) m.context.edits.insertAtStart(o.body, code, why);
    else if (o.body) m.context.edits.insertAtEnd(o.body, code, why);
    else if (o.statement) m.context.edits.insertAfter(o.statement, code, why);
    else m.context.diags.report(DiagID::UnresolvedOptimizer, o.construct->getSourceRange(), "no statement that could broadcast the initial state follows its construction (give its class one constructor, or make it in a function)");
  }
  if (m.batchNorm && !m.context.options.syncBatchNorm)
    for (const OptimizerSite& o : m.optimizers)
      m.context.diags.report(DiagID::BatchNormPerRank, o.construct->getSourceRange(), o.model.empty() ? o.name : o.model, m.ifSeen());
  for (const Site& s : m.sites.of(Role::Load)) {
    const auto arguments = argumentsOf(s.call);
    std::string what;
    for (int t : s.entry->targets)
      if (t >= 0 && t < static_cast<int>(arguments.size())) what += (what.empty() ? "" : ", ") + m.text(arguments[t]);
    if (what.empty() && s.entry->object && objectOf(s.call)) what = m.text(objectOf(s.call));
    const int path = s.entry->path;
    // What a thread loads is an item of a data set: each rank reads its own.
    if (m.threads.mayRun(s.call)) what.clear();
    const bool own = m.memory.concerns(s.call);
    if (own && (what.empty() || m.memory.readsOwn(s.call))) continue;  // what every rank has saved there itself
    if ((what.empty() || !s.call->getType()->isVoidType()) && path >= 0 && path < static_cast<int>(arguments.size()))
      m.context.diags.report(DiagID::AssumeSharedFiles, s.call->getSourceRange(), m.text(arguments[path]));
    if (what.empty()) continue;
    const Why why{DiagID::InitialBroadcast, "all ranks go on alike"};
    m.context.diags.report(DiagID::InitialBroadcast, s.call->getSourceRange());
    if (s.call->getType()->isVoidType() && !own) m.context.edits.wrap(s.call, "hvd::from_root([&] { ", "; })", why);
    m.context.edits.insertAfter(s.call, "hvd::broadcast(" + what + ");", why);
  }
}

}  // namespace hvdize
