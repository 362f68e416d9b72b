// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/summed_losses.h"

using namespace clang;

namespace hvdize {

namespace {

struct Losses {
  bool sums = false, means = false;
};

// The backward passes whose gradients a step takes.
llvm::SmallVector<const BackwardSite*, 2> backwardsOf(const Model& m, const Site& step) {
  const auto loops = m.sites.loopsAround(step.call);
  llvm::SmallVector<const BackwardSite*, 2> found;
  for (const BackwardSite& b : m.backwards)
    if (loops.empty() ? m.code.functionOf(b.call) == step.function : isWithin(m.code, b.call, loops.front())) found.push_back(&b);
  return found;
}

// The constructions of the optimizer that steps.
llvm::SmallVector<const Expr*, 2> constructionsAt(const Model& m, const Site& step) {
  llvm::SmallVector<const Expr*, 2> found;
  const Expr* object = objectOf(step.call);
  if (!object) return found;
  const auto made = m.definitions.origins(object);
  for (const OptimizerSite& o : m.optimizers)
    if (llvm::is_contained(made, o.construct)) found.push_back(o.construct);
  return found;
}

}  // namespace

std::optional<llvm::DenseSet<const Expr*>> optimizersOfSums(const Model& m) {
  if (!m.instances.empty() || !m.handUpdates.empty()) return std::nullopt;
  llvm::DenseMap<const Expr*, Losses> losses;
  llvm::DenseSet<const BackwardSite*> taken;
  for (const Site& step : m.sites.of(Role::Step)) {
    const auto optimizers = constructionsAt(m, step);
    const auto backwards = backwardsOf(m, step);
    if (optimizers.empty() || backwards.empty()) return std::nullopt;
    for (const BackwardSite* b : backwards) {
      taken.insert(b);
      for (const Expr* o : optimizers) (b->kind.growsWithBatch() ? losses[o].sums : losses[o].means) = true;
    }
  }
  llvm::DenseSet<const Expr*> out;
  for (const auto& [optimizer, kinds] : losses) {
    if (kinds.sums && kinds.means) return std::nullopt;
    if (kinds.sums) out.insert(optimizer);
  }
  const bool all = llvm::all_of(m.backwards, [&](const BackwardSite& b) { return taken.contains(&b); });
  const bool stepped = llvm::all_of(m.optimizers, [&](const OptimizerSite& o) { return losses.contains(o.construct); });
  return all && stepped ? std::optional(std::move(out)) : std::nullopt;
}

LossGrowth lossGrowth(const Model& m) {
  LossGrowth g;
  g.either = m.kinds.grownApart();
  for (const BackwardSite& b : m.backwards) {
    (b.kind.growsWithBatch() && !m.kinds.dividesGradients() ? g.sums : g.means) = true;
    if (b.kind.mixed && !g.either) g.either = b.call;  // `if (averaged) loss /= batch_size;`
  }
  return g;
}

const Expr* withoutRule(const Model& m) {
  const LossGrowth g = lossGrowth(m);
  if (g.either || !g.sums || !g.means || optimizersOfSums(m)) return g.either;
  return m.backwards.front().call;
}

}  // namespace hvdize
