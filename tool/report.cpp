// SPDX-License-Identifier: Apache-2.0
#include "tool/report.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Path.h>

#include <algorithm>

namespace hvdize::tool {
namespace {

const char* statusName(RewriteStatus status) {
  switch (status) {
    case RewriteStatus::Written: return "rewritten";
    case RewriteStatus::Unchanged: return "unchanged";
    case RewriteStatus::Refused: return "refused";
    case RewriteStatus::DoesNotCompile: return "does-not-compile";
  }
  return "";
}

const char* lrName(LrScaling rule) {
  switch (rule) {
    case LrScaling::Auto: return "auto";
    case LrScaling::Linear: return "linear";
    case LrScaling::Sqrt: return "sqrt";
    case LrScaling::None: return "none";
  }
  return "";
}

size_t countEdits(const FileResult& file) {
  return static_cast<size_t>(std::count_if(file.edits.begin(), file.edits.end(), [](const Edit& e) { return e.kind != Edit::Kind::Braces; }));
}

std::string counted(size_t n, const char* word) { return std::to_string(n) + " " + word + (n == 1 ? "" : "s"); }

std::string policyText(const RewriteOptions& o, const RewriteSummary& summary) {
  if (summary.globalOnly) return "each batch is shared out as it is";
  std::string text = "default: batch ";
  if (!summary.batchSize.empty()) text += summary.batchSize + " ";
  text += o.batch == BatchPolicy::Global ? "over all ranks" : "per rank";
  const std::string rule = o.lrScaling == LrScaling::Auto && !summary.lrRule.empty() ? summary.lrRule : lrName(o.lrScaling);
  return o.batch == BatchPolicy::Global ? text : text + ", learning rate " + rule;
}

/// A header of a library that lies among the program's own files, where something was refused; empty when there is none.
std::string libraryHeader(const std::vector<Outcome>& outcomes) {
  static constexpr llvm::StringRef folders[] = {"3rdparty", "_deps", "dependencies", "deps", "ext", "extern", "external", "single_include", "submodules", "third-party", "third_party", "thirdparty", "vendor"};
  for (const Outcome& o : outcomes)
    for (const Diagnostic& d : o.diagnostics) {
      if (d.severity != Severity::Refusal) continue;
      const llvm::StringRef file = d.place.file;
      for (auto part = llvm::sys::path::begin(file), end = llvm::sys::path::end(file); part != end; ++part)
        if (llvm::is_contained(folders, *part)) return file.str();
    }
  return "";
}

void printSummary(llvm::raw_ostream& os, const Arguments& arguments, const std::vector<Outcome>& outcomes) {
  size_t edits = 0, files = 0, refused = 0;
  const Outcome* trainer = nullptr;
  for (const Outcome& o : outcomes) {
    refused += o.result.status == RewriteStatus::Refused;
    if (o.result.status != RewriteStatus::Written) continue;
    for (const FileResult& f : o.result.files) edits += countEdits(f), files += f.output != f.input;
    if (!trainer || o.result.summary.trainer) trainer = &o;
  }
  if (refused > 0) {
    os << counted(refused, outcomes.size() == 1 && !outcomes[0].job.further.empty() ? "program" : "file") << " refused; nothing written\n";
    if (const std::string header = libraryHeader(outcomes); !header.empty())
      os << "'" << header << "' is read as a part of the program. Is it a library's? Give its folder with -isystem in place of -I, and it is not\n";
  } else if (trainer) {
    const std::string& named = trainer->output.empty() || trainer->output == "-" ? trainer->job.file : trainer->output;
    os << counted(edits, "edit") << " in " << counted(files, "file") << "; " << policyText(arguments.rewrite, trainer->result.summary)
       << ". Run: mpirun -n 4 ./" << llvm::sys::path::stem(named) << "\n";
    if (!trainer->result.quoteFolder.empty())
      os << "Compile with -iquote " << trainer->result.quoteFolder << ": headers that stay where they are are found there\n";
  }
}

llvm::json::Array editsJson(const FileResult& result) {
  llvm::json::Array edits;
  for (size_t i = 0; i < result.edits.size(); ++i) {
    const Edit& e = result.edits[i];
    static constexpr const char* kinds[] = {"replace", "insert", "wrap", "braces"};
    llvm::json::Object o{{"kind", kinds[static_cast<size_t>(e.kind)]}, {"line", result.editLines[i]}, {"begin", e.range.begin},
                         {"end", e.range.end}, {"text", llvm::json::fixUTF8(e.before)}, {"id", idString(e.why.id)}, {"reason", e.why.text}};
    if (!e.after.empty()) o["textAfter"] = llvm::json::fixUTF8(e.after);
    edits.push_back(std::move(o));
  }
  return edits;
}

/// The other sources of the program, and its headers that change.
llvm::json::Array furtherJson(const Outcome& o) {
  llvm::json::Array further;
  for (size_t i = 1; i < o.result.files.size(); ++i) {
    const FileResult& f = o.result.files[i];
    llvm::json::Object file{{"file", f.path}, {"header", f.header}, {"edits", editsJson(f)}};
    if (const std::string out = o.job.place ? o.job.place(f) : ""; !out.empty()) file["output"] = out;
    further.push_back(std::move(file));
  }
  return further;
}

llvm::json::Object policyJson(const RewriteOptions& o) {
  return llvm::json::Object{{"batch", o.batch == BatchPolicy::Global ? "global" : "per-rank"},
                            {"lrScaling", lrName(o.lrScaling)},
                            {"warmupSteps", o.warmup.steps},
                            {"warmupEpochs", o.warmup.epochs},
                            {"steps", o.steps == StepPolicy::Divide ? "divide" : "keep"},
                            {"syncBatchNorm", o.syncBatchNorm},
                            {"evaluation", o.evaluation == EvaluationPolicy::Whole ? "whole" : "sharded"},
                            {"strict", o.strict},
                            {"passesLeftOut", llvm::json::Array(o.passesOff)}};
}

}  // namespace

void printReport(llvm::raw_ostream& os, const Arguments& arguments, const std::vector<Outcome>& outcomes, bool color) {
  const PrintOptions options{color, true, !arguments.quiet};
  for (const Outcome& o : outcomes) {
    os << o.result.compilerOutput;
    printDiagnostics(os, o.diagnostics, options);
    if (arguments.verbose)
      for (const std::string& note : o.result.notes) os << "hvdize: " << note << "\n";
  }
  if (!arguments.quiet) printSummary(os, arguments, outcomes);
}

std::string jsonReport(const Arguments& arguments, const std::vector<Outcome>& outcomes, int exitStatus) {
  llvm::json::Array files;
  for (const Outcome& o : outcomes) {
    llvm::json::Array diagnostics;
    for (const Diagnostic& d : o.diagnostics) diagnostics.push_back(toJson(d));
    const FileResult* first = o.result.files.empty() ? nullptr : &o.result.files.front();
    llvm::json::Object file{{"file", o.job.file}, {"status", statusName(o.result.status)}, {"diagnostics", std::move(diagnostics)},
                            {"edits", first ? editsJson(*first) : llvm::json::Array()}};
    if (!o.output.empty()) file["output"] = o.output;
    if (!o.result.quoteFolder.empty()) file["quoteFolder"] = o.result.quoteFolder;
    if (llvm::json::Array further = furtherJson(o); !further.empty()) file["further"] = std::move(further);
    if (!o.result.summary.dialect.empty()) file["dialect"] = o.result.summary.dialect;
    if (!o.result.summary.batchSize.empty()) file["batchSize"] = o.result.summary.batchSize;
    if (!o.result.summary.lrRule.empty()) file["lrRule"] = o.result.summary.lrRule;
    files.push_back(std::move(file));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{{"tool", "hvdize"},
                                                                     {"version", HVDIZE_VERSION},
                                                                     {"exitStatus", exitStatus},
                                                                     {"policy", policyJson(arguments.rewrite)},
                                                                     {"files", std::move(files)}}));
  return text;
}

}  // namespace hvdize::tool
