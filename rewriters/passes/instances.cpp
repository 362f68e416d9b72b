// SPDX-License-Identifier: Apache-2.0
// One text, several meanings: instantiations of a template, and files that are included more than once. What is edited there is edited for all.
#include <array>
#include <map>

#include "clang/Basic/SourceManager.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

/// A stretch of a file and, for text of macros, how it is spelled: where it stands in the file, then where its letters come from. An argument
/// of a macro stands where it is written; a macro's own text stands where the macro is used, and several expressions may stand there.
using Place = std::pair<std::string, std::array<unsigned, 4>>;

Place placeOf(const SourceManager& sm, SourceRange range) {
  const auto first = sm.getDecomposedLoc(sm.getFileLoc(range.getBegin())), last = sm.getDecomposedLoc(sm.getFileLoc(range.getEnd()));
  const OptionalFileEntryRef file = sm.getFileEntryRefForID(first.first);
  return {file ? file->getName().str() : std::string(),
          {first.second, last.second, sm.getDecomposedSpellingLoc(range.getBegin()).second, sm.getDecomposedSpellingLoc(range.getEnd()).second}};
}

const char* reductionOf(Kind k) {
  switch (k) {
    case Kind::Mean: return "a mean over the batch";
    case Kind::Sum: return "a sum over samples";
    case Kind::Max: return "the largest over the batch";
    case Kind::Min: return "the smallest over the batch";
    case Kind::Sharded: return "one item for each sample";
    case Kind::CountMean: return "a mean over counted terms";
    default: return "another number";
  }
}

/// Does it leave alone what all ranks have alike?
bool keepsAlike(Kind k) { return k == Kind::Mean || k == Kind::Max || k == Kind::Min || k == Kind::CountMean; }

/// Does this instantiation compute something there in a step? A branch of `if constexpr` may be missing, and outside of steps nothing is combined.
bool hasText(const Model& m, const Function& f, const Place& at) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  bool found = false;
  forEachExpr(f.body, [&](const Expr* e) { found = found || (placeOf(sm, e->getSourceRange()) == at && m.batches.inStep(e) > 0); });
  return found;
}

}  // namespace

void checkInstances(Model& m) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  std::map<Place, std::vector<const Function*>> bodies;
  for (const Function& f : m.code.functions())
    if (f.body) bodies[placeOf(sm, f.body->getSourceRange())].push_back(&f);
  const char* const kCount = "a count of samples";
  for (const auto& [where, same] : bodies) {
    // What each of them makes of a place, and whether that leaves alone what all ranks have alike.
    std::map<Place, std::map<const Function*, const char*>> found;
    std::map<Place, std::pair<const Expr*, bool>> edited;
    for (const Function* f : same)
      forEachExpr(f->body, [&](const Expr* e) {
        const auto reduced = m.kinds.reductions().find(e);
        const char* what = reduced != m.kinds.reductions().end() ? reductionOf(reduced->second.kind) : m.kinds.rowCounts().count(e) ? kCount : nullptr;
        if (!what) return;
        const Place at = placeOf(sm, e->getSourceRange());
        const auto [before, first] = found[at].try_emplace(f, what);
        if (!first && before->second != what) found[at][nullptr] = what;  // a pack that is unfolded
        edited.try_emplace(at, e, what != kCount && keepsAlike(reduced->second.kind));
      });
    for (const auto& [at, by] : found) {
      const auto& [e, harmless] = edited[at];
      const char *one = by.begin()->second, *other = nullptr;
      for (const auto& [f, what] : by)
        if (what != one) other = what;
      if (!other && !harmless && llvm::any_of(same, [&](const Function* f) { return !by.count(f) && hasText(m, *f, at); })) other = "what all ranks have alike";
      if (other)
        m.context.diags.report(DiagID::KindUnknown, e->getSourceRange(), m.text(e),
                               std::string("in one instantiation or inclusion of this text it is ") + one + ", in another " + other + " (give each a function of its own)");
    }
  }
}

}  // namespace hvdize
