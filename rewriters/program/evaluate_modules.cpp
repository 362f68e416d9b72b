// SPDX-License-Identifier: Apache-2.0
// Kinds of what modules return.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

namespace {

// A class of the author's around one of the framework's containers: what runs is the container's forward.
bool inheritsForward(const Dialect& dialect, const CXXRecordDecl* module) {
  if (!module->hasDefinition()) return false;
  return llvm::any_of(module->bases(), [&](const CXXBaseSpecifier& b) {
    const CXXRecordDecl* base = b.getType()->getAsCXXRecordDecl();
    if (!base || !base->hasDefinition()) return false;
    const bool own = llvm::any_of(base->decls(), [](const Decl* d) {
      const auto* named = dyn_cast<NamedDecl>(d);
      return named && named->getDeclName().isIdentifier() && named->getName() == "forward";
    });
    return (own && dialect.owns(base)) || inheritsForward(dialect, base);
  });
}

}  // namespace

// `forward` of a module whose body is in another file.
bool Kinds::isOpaqueForward(const FunctionDecl* callee) const {
  const auto* m = dyn_cast<CXXMethodDecl>(callee);
  if (!m || !code_.files().contains(m->getLocation()) || !dialect_.is(m->getParent(), Role::Module)) return false;
  return m->getOverloadedOperator() == OO_Call || (m->getDeclName().isIdentifier() && m->getName().contains_insensitive("forward"));
}

// A mask is drawn by the row of the global batch: behind one another, the rows of several tensors have other numbers on each rank. Where each
// rank draws from a stream of its own, every mask is another one.
void Kinds::noteLayerDraw(const Expr* e, const Value& rows, const Expr* object) {
  if (!recording_ || (rows.kind != Kind::Sharded && rows.kind != Kind::Second) || batches_.inStep(e) == 0) return;
  if (!dialect_.ownStepDraws() && (!rows.joined || rows.selected)) return;
  const CXXRecordDecl* module = object ? dialect_.recordOf(object->getType()) : nullptr;
  const bool container = module && !dialect_.is(object->getType(), Role::KeepsShape) && !code_.files().contains(module->getLocation()) && takesLayers(module);
  bool drops = object && dialect_.is(object->getType(), Role::Dropout);
  const auto look = [&](const Expr* x) { drops = drops || (isa<CXXConstructExpr, CallExpr>(x) && dialect_.is(x->getType(), Role::Dropout)); };
  if (container)
    for (const Root& r : code_.roots()) forEachExpr(r.code, look);
  if (drops) localDraws_.insert(e);
}

const CXXMethodDecl* knownForward(const Dialect& dialect, const Expr* object) {
  const CXXRecordDecl* module = object ? dialect.recordOf(object->getType()) : nullptr;
  if (!module || !module->hasDefinition()) return nullptr;
  std::vector<const CXXRecordDecl*> open = {module};
  for (size_t i = 0; i < open.size(); ++i) {
    for (const auto* m : open[i]->methods())
      if (m->getDeclName().isIdentifier() && m->getName() == "forward")
        if (const Entry* own = dialect.lookup(m); own && own->role == Role::Forward) return m;
    for (const CXXBaseSpecifier& b : open[i]->bases())
      if (const CXXRecordDecl* base = b.getType()->getAsCXXRecordDecl(); base && base->hasDefinition()) open.push_back(base->getDefinition());
  }
  return nullptr;
}

// Through a holder's call operator the forward of the layer that it holds is what runs: its row of the table counts.
const Entry& Kinds::forwardOf(const Entry& entry, const Expr* object) const {
  const CXXMethodDecl* own = knownForward(dialect_, object);
  return own ? *dialect_.lookup(own) : entry;
}

Value Kinds::evalForward(const Expr* e, const Entry& called, const Expr* object) {
  const Entry& entry = forwardOf(called, object);
  if (!entry.batchFirst.empty()) return evalSequence(e, entry, object);
  Value v;
  for (const Expr* a : argumentsOf(e)) v = addValues(v, eval(a), e);
  if (v.kind == Kind::Sharded && !entry.carriesOption.empty() && hasOption(definitions_, entry.carriesOption, object, true))
    return Value::unknown(e, "with an option that it was made with the layer keeps in its weights or statistics which samples this rank had");
  if (v.kind == Kind::Sharded && object && worksAlongRows(object))
    return Value::unknown(e, "a layer of it works along the first dimension, which runs over the samples, or along one that is not a constant");
  if (v.kind == Kind::Sharded && object)
    if (const Value made = ofHeldModules(object); made.dependsOnSamples()) return Value::unknown(made.origin ? made.origin : e, made.why ? made.why : "a module in it makes no row for each sample");
  if (v.kind == Kind::Sharded && entry.positions == "vectors" && ((v.flat && !v.thin && !batches_.allData().empty()) || ranks_.exactly(argumentsOf(e)[0]) == 1))
    return Value::unknown(e, "what the layer gets has one dimension, and that one runs over features, not over samples");
  if (v.kind == Kind::Second) {
    const Expr* input = argumentsOf(e)[0];
    if (entry.positions.empty() || (entry.positions == "vectors" && !isDeep(input, v)))
      return Value::unknown(e, "the samples run along the second dimension of what the layer gets, and it may take them for something else");
    v.deep = isDeep(input, v) || entry.positions == "indices";
    v.graded = true;
    noteLayerDraw(e, v, object);
    return v;
  }
  if (v.dependsOnSamples() && v.kind != Kind::Sharded && v.kind != Kind::Unknown)
    return Value::unknown(e, "a layer is applied to a value of the whole batch");
  v.flat = v.thin = false;
  v.graded = v.kind == Kind::Sharded;
  noteLayerDraw(e, v, object);
  return v;
}

// A module, through its forward or through the call operator of its holder.
Value Kinds::evalModule(const Expr* e, const Entry& entry, const Expr* object) {
  if (object && dialect_.is(object->getType(), Role::LossModule)) {
    Entry loss = *dialect_.lookup(object->getType());  // with what it says about positions
    loss.input = 0;
    loss.target = 1;
    loss.options = -1;
    return evalLoss(e, loss);
  }
  // Through a holder's call operator: the author's own forward is what runs.
  const CXXRecordDecl* module = object ? dialect_.recordOf(object->getType()) : nullptr;
  llvm::SmallVector<const FunctionDecl*, 1> own;
  for (const Function& f : code_.functions()) {
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    if (module && m && m->getDeclName().isIdentifier() && m->getName() == "forward" &&
        m->getParent()->getCanonicalDecl() == module->getCanonicalDecl())
      own.push_back(m);
  }
  if (own.empty() && recording_ && module && code_.files().contains(module->getLocation()) && !inheritsForward(dialect_, module)) opaqueForwards_.insert(e);
  if (!own.empty()) return evalAuthorCall(e, own);
  const Value v = evalForward(e, entry, object);
  noteUniformForward(e, v);
  return v;
}

// Pictures of a fixed noise, made in a step: rows that all ranks have, where layers that look at other ranks' rows must not count them twice.
void Kinds::noteUniformForward(const Expr* e, const Value& result) {
  if (!recording_ || !result.isUniform() || result.kind == Kind::None || batches_.inStep(e) == 0) return;
  const auto* around = dyn_cast_or_null<CXXMethodDecl>(code_.functionOf(e));
  if (around && dialect_.is(around->getParent(), Role::Module)) return;
  if (llvm::all_of(argumentsOf(e), [&](const Expr* a) { return eval(a).isUniform(); })) uniformForwards_.insert(e);
}

// Is there one layer of state, in one direction?
bool Kinds::oneLayer(const Entry& entry, const Expr* object) const {
  if (!object) return false;
  bool one = true, made = false;
  const auto scan = [&](const Expr* tree) {
    forEachExpr(tree, [&](const Expr* x) {
      made = made || (isa<CXXConstructExpr>(x) && argumentsOf(x).size() >= 2);  // sizes of what goes in and of the state
      const FunctionDecl* f = calleeOf(x);
      if (!f || !f->getDeclName().isIdentifier() || !llvm::is_contained(entry.stateOptions, f->getName())) return;
      const auto arguments = argumentsOf(x);
      Expr::EvalResult r;
      const bool constant = arguments.size() == 1 && !arguments[0]->isValueDependent() && arguments[0]->EvaluateAsInt(r, code_.context());
      one = one && constant && r.Val.getInt() == (arguments[0]->getType()->isBooleanType() ? 0 : 1);
    });
  };
  for (const Setting& o : definitions_.settings(object)) {
    scan(o.tree);
    for (const Expr* a : argumentsOf(o.tree))
      for (const Setting& inner : definitions_.settings(a)) scan(inner.tree);
  }
  return one && made;
}

// `zeros({1, 8, 16})`, itself or through variables and tuples, as the state of a batch: the 8 are the rows of the batch. Where the batch has that size, as a
// number that is written elsewhere, it is one place more of it; else what was found.
const Expr* Kinds::stateOfFixedRows(const Expr* state, unsigned depth) {
  const Expr* fixed = nullptr;
  forEachExpr(state, [&](const Expr* x) {
    const auto* v = !fixed && depth < 4 && isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    if (v && v->isLocalVarDecl() && v->getInit() && batches_.inStep(v->getInit()) > 0 && definitions_.of(v).size() == 1) fixed = stateOfFixedRows(v->getInit(), depth + 1);
    const Entry* entry = !fixed && calleeOf(x) ? dialect_.lookup(x) : nullptr;
    const auto given = argumentsOf(x);
    if (!entry || (entry->op != OpKind::Factory && entry->role != Role::RandomDraw) || entry->shape < 0 || entry->shape >= static_cast<int>(given.size()) || batches_.inStep(x) == 0) return;
    const auto list = extentsOf(given[entry->shape]);
    if (!list || list->size() != 3 || !isa<IntegerLiteral>(strip((*list)[1]))) return;
    const Expr* rows = strip((*list)[1]);
    if (entry->role == Role::RandomDraw || !isSizeOfBatches(rows)) fixed = rows;
    else if (recording_) localSizes_.insert(rows), sizesWrittenAgain_.insert(rows);
  });
  return fixed;
}

// Layers over sequences: their input, and what its first two dimensions are; states and masks beside it.
Value Kinds::evalSequence(const Expr* e, const Entry& entry, const Expr* object) {
  const auto arguments = argumentsOf(e);
  if (arguments.empty()) return Kind::Uniform;
  const bool states = entry.secondResult == "states";
  const CXXMethodDecl* forward = knownForward(dialect_, object);
  const Value first = eval(arguments[0]);
  Value v = first;
  for (unsigned i = 1; i < arguments.size(); ++i) {
    const Value with = eval(arguments[i]);
    if (with.kind == Kind::Unknown || with.kind == Kind::RankLocal) return with;
    v.graded = v.graded || with.graded;
    if (states && first.dependsOnSamples() && with.isUniform())
      if (const Expr* fixed = stateOfFixedRows(arguments[i])) return Value::unknown(fixed, "the state has a number of rows that is written here, and a rank has others (write the size of the batch there)");
    const ParmVarDecl* p = forward && i < forward->getNumParams() ? forward->getParamDecl(i) : parameterOf(e, i);
    const bool mask = p && p->getName().contains("padding_mask");  // a row of it for each sample
    const Kind fits = mask ? Kind::Sharded : Kind::Second;
    if (with.dependsOnSamples() && with.kind != fits)
      return Value::unknown(arguments[i], mask ? "a padding mask has the samples in its first dimension" : "it has the samples in its second dimension, and here they are in another one");
    if (with.dependsOnSamples() && !v.dependsOnSamples()) v = with;
  }
  if (!v.dependsOnSamples() || v.kind == Kind::Unknown) return v.kind == Kind::Unknown ? v : Value(Kind::Uniform);
  const bool rows = entry.batchFirst != "never" && hasOption(definitions_, entry.batchFirst, object, false);
  if (first.kind == Kind::Sharded && !rows)
    return Value::unknown(e, "its first dimension is not the batch (batch_first is not set), so the samples run along another one");
  if (first.kind == Kind::Second && rows)
    return Value::unknown(e, "its first dimension is the batch (batch_first is set), and here the samples run along the second one");
  if (first.dependsOnSamples() && first.kind != Kind::Sharded && first.kind != Kind::Second)
    return Value::unknown(e, "a layer is applied to a value of the whole batch");
  v.kind = rows ? Kind::Sharded : Kind::Second;
  v.flat = v.thin = false;
  v.deep = !rows;
  v.single = !rows && first.single;
  v.graded = true;
  v.also = isTensor(e->getType()) ? Also::Same : states ? Also::States : entry.secondResult == "rows" ? Also::Rows : Also::Same;
  v.oneState = v.also == Also::States && oneLayer(entry, object);
  noteLayerDraw(e, v, object);
  return v;
}

bool hasOption(const Definitions& definitions, llvm::StringRef option, const Expr* object, bool unclear) {
  bool yes = false, no = false;
  const auto scan = [&](const Expr* tree) {
    forEachExpr(tree, [&](const Expr* x) {
      const FunctionDecl* f = calleeOf(x);
      if (!f || !f->getDeclName().isIdentifier() || f->getName() != option) return;
      const auto arguments = argumentsOf(x);
      if (arguments.size() != 1) return;
      bool value = unclear;
      const bool constant = !arguments[0]->isValueDependent() && arguments[0]->getType()->isBooleanType() &&
                            arguments[0]->EvaluateAsBooleanCondition(value, definitions.code().context());
      ((constant ? value : unclear) ? yes : no) = true;
    });
  };
  if (object)
    for (const Setting& o : definitions.settings(object)) {
      scan(o.tree);
      for (const Expr* a : argumentsOf(o.tree))
        for (const Setting& inner : definitions.settings(a)) scan(inner.tree);
    }
  return yes && no ? unclear : yes;
}

}  // namespace hvdize
