// SPDX-License-Identifier: Apache-2.0
// Loops over all samples of a batch that write, by the number of the sample, into rows of which each rank has some.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

void keepToOwnSamples(Model& m) {
  for (const auto& [loop, rows] : m.kinds.sampleLoops()) {
    const auto* declared = cast<DeclStmt>(loop->getInit());
    const std::string i = cast<VarDecl>(declared->getSingleDecl())->getNameAsString();
    m.context.diags.report(DiagID::OwnSamples, loop->getBeginLoc());
    m.context.edits.insertAtStart(loop->getBody(), "if (!hvd::has_sample(" + i + ")) continue;  // another rank's", {DiagID::OwnSamples, "this rank's samples"});
    for (const Expr* row : rows) m.context.edits.wrap(row, "hvd::local_row(", ")", {DiagID::OwnSamples, "of this rank's rows"});
  }
}

}  // namespace hvdize
