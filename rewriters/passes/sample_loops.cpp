// SPDX-License-Identifier: Apache-2.0
// Loops over all samples of a batch that write, by the number of the sample, into rows of which each rank has some.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

void keepToOwnSamples(Model& m) {
  for (const auto& [loop, rows] : m.kinds.sampleLoops()) {
    const auto* range = dyn_cast<CXXForRangeStmt>(loop);
    const auto* declared = range ? nullptr : cast<DeclStmt>(cast<ForStmt>(loop)->getInit());
    const std::string i = (range ? declOf(strip(countedAtEnd(range))) : cast<VarDecl>(declared->getSingleDecl()))->getNameAsString();
    const std::string next = range ? "{  // another rank's\n++" + i + ";\ncontinue;\n}" : "continue;  // another rank's";
    m.context.diags.report(DiagID::OwnSamples, loop->getBeginLoc());
    m.context.edits.insertAtStart(loopBody(loop), "if (!hvd::has_sample(" + i + ")) " + next, {DiagID::OwnSamples, "this rank's samples"});
    for (const Expr* row : rows) m.context.edits.wrap(row, "hvd::local_row(", ")", {DiagID::OwnSamples, "of this rank's rows"});
  }
}

}  // namespace hvdize
