// SPDX-License-Identifier: Apache-2.0
//
// What a pass gets: the parsed program, the dialect, the author's options, and where its edits and diagnostics go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/dialects/dialect.h"
#include "rewriters/options.h"
#include "rewriters/source/edit.h"

namespace clang {
class ASTContext;
}

namespace hvdize {

/// What the passes found, for the last line of the report and for the JSON report.
struct RewriteSummary {
  /// A training step was found. When false, and nothing is refused, the output is the input.
  bool trainer = false;
  /// An evaluation loop is shared out: the program could also be written with whole ones.
  bool sharedEvaluation = false;
  /// The batch size of the training loop as the author wrote it ("64", "options.batch"); empty when there is none.
  std::string batchSize;
  /// The learning-rate rule that `auto` means for this program: "linear", "sqrt", "none"; empty when mixed or unknown.
  std::string lrRule;
  /// The size of the batches is not known: each is shared out as it is, whatever the mode.
  bool globalOnly = false;
  /// The name of the dialect that was chosen, and the header that its rewritten programs include.
  std::string dialect, runtimeHeader;
  /// The file makes an optimizer; asked where no training step is found.
  bool optimizers = false;
  /// What the object of a single source defines for others, as linkers call it (see program/defined_names.h). For hvdize-c++.
  std::vector<std::string> defined;
};

struct PassContext {
  clang::ASTContext& ast;
  const Dialect& dialect;
  DiagEngine& diags;
  const RewriteOptions& options;
  EditSet& edits;
  RewriteSummary& summary;
  /// The real folder of the dialect's headers, with a slash at its end: what lies there is not the author's.
  const std::string& frameworkFolder;
};

}  // namespace hvdize
