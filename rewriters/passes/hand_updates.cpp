// SPDX-License-Identifier: Apache-2.0
// Parameters that the program updates by hand: what of them is reduced, and broadcast.
#include <set>

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// The tensor itself where a pointer to it is named: between braces, two pointers would be the ends of a range.
std::string nameOf(const Model& m, const Expr* e) {
  e = strip(e);
  if (!e->getType()->isPointerType()) return m.text(e);
  const auto* u = dyn_cast<UnaryOperator>(e);
  return u && u->getOpcode() == UO_AddrOf ? m.text(strip(u->getSubExpr())) : "*" + m.text(e);
}

std::string list(const Model& m, llvm::ArrayRef<const Expr*> tensors) {
  std::string out;
  for (const Expr* e : tensors) out += (out.empty() ? "" : ", ") + nameOf(m, e);
  return out;
}

// `sgd({w, b}, rate)`: the tensors between the braces, which are no expression by themselves.
llvm::SmallVector<const Expr*, 4> namedBy(const Expr* e) {
  const Expr* inner = strip(e);
  if (const auto* k = dyn_cast<CXXConstructExpr>(inner); k && k->getNumArgs() >= 1 && isa<InitListExpr, CXXStdInitializerListExpr>(strip(k->getArg(0)))) inner = strip(k->getArg(0));
  if (const auto* l = dyn_cast<CXXStdInitializerListExpr>(inner)) inner = strip(l->getSubExpr());
  const auto* braces = dyn_cast<InitListExpr>(inner);
  if (!braces) return {e};
  return {braces->inits().begin(), braces->inits().end()};
}

// The model whose parameters are asked for.
const Expr* modelOf(const Model& m, const Expr* e) {
  return calleeOf(e) && m.context.dialect.is(e, Role::Parameters) ? objectOf(e) : nullptr;
}

}  // namespace

// What is updated in one go is one list, and so is a list of the author's.
void reduceUpdatedByHand(Model& m) {
  for (const HandUpdate& u : m.handUpdates) {
    m.context.diags.report(DiagID::GradientsReduced, u.read->getSourceRange(), "parameters are updated by hand");
    std::string code;
    if (u.tensors.size() == 1) code = "hvd::reduce_gradients(" + list(m, u.tensors) + ");";
    else if (!u.tensors.empty()) code = "hvd::reduce_gradients({" + list(m, u.tensors) + "});";
    for (const Expr* e : u.lists) {
      const auto named = namedBy(e);
      const bool braces = named.size() != 1 || named.front() != e;
      code += (code.empty() ? "" : "\n") + ("hvd::reduce_gradients(" + (braces && named.size() > 1 ? "{" + list(m, named) + "}" : list(m, named)) + ");");
    }
    m.context.edits.insertBefore(u.before, code, {DiagID::GradientsReduced, "gradients of the whole batch"});
  }
}

void broadcastUpdatedByHand(Model& m) {
  const bool syncBn = m.context.options.syncBatchNorm && m.batchNorm;
  std::set<std::pair<const Stmt*, std::string>> done;
  bool placed = false;
  for (const HandUpdate& u : m.handUpdates) {
    std::string names, code;
    llvm::SmallVector<const Expr*, 8> initial;
    for (const Expr* e : u.initial) initial.append(namedBy(e));
    for (const Expr* e : initial) {
      const Expr* model = modelOf(m, e);
      const std::string name = model ? m.text(strip(model)) : nameOf(m, e);
      if (!done.emplace(u.start, name).second) continue;
      names += (names.empty() ? "" : ", ") + name;
      if (!model || !syncBn) continue;
      m.context.diags.report(DiagID::SyncBatchNormAdded, u.read->getSourceRange(), "'" + name + "'");
      code += "hvd::sync_batchnorm(" + name + ");\n";
    }
    if (!u.start && u.updates) m.context.diags.report(DiagID::AssumeAlikeStart, u.read->getSourceRange());
    if (names.empty()) continue;
    if (syncBn && code.empty()) {
      m.context.diags.report(DiagID::SyncBatchNormAdded, u.read->getSourceRange(), "all models");
      code = "hvd::sync_batchnorm();\n";
    }
    placed = true;
    m.context.diags.report(DiagID::InitialBroadcast, u.read->getSourceRange());
    m.context.edits.insertBefore(u.start, code + "hvd::broadcast(" + names + ");", {DiagID::InitialBroadcast, "all ranks start alike"});
  }
  if (m.handUpdates.empty() || !m.batchNorm) return;
  const SourceRange first = m.handUpdates.front().read->getSourceRange();
  if (!syncBn) m.context.diags.report(DiagID::BatchNormPerRank, first, "the model", m.ifSeen());
  else if (!placed) m.context.diags.report(DiagID::UnresolvedOptimizer, first, "parameters are updated by hand, and where --sync-bn is to begin is not visible");
}

}  // namespace hvdize
