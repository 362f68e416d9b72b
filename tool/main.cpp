// SPDX-License-Identifier: Apache-2.0
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>

#include <algorithm>

#include "rewriters/passes/passes.h"
#include "rewriters/source/output.h"
#include "tool/arguments.h"
#include "tool/cache.h"
#include "tool/html.h"
#include "tool/jobs.h"
#include "tool/programs.h"
#include "tool/report.h"
#include "tool/sarif.h"
#include "tool/undo.h"
#include "tool/write.h"

namespace hvdize::tool {
namespace {

enum Exit { kDone = 0, kRefused = 1, kUsage = 2, kDoesNotCompile = 3 };

int usageError(const std::string& message) {
  llvm::errs() << "hvdize: error: " << message << "\n";
  return kUsage;
}

int explainOne(const std::string& id) {
  const DiagInfo* row = findDiagnostic(id);
  if (!row) return usageError("there is no diagnostic '" + id + "' (they are called HVD1001, HVD2003, ...; docs/diagnostics lists them)");
  explain(llvm::outs(), *row);
  return kDone;
}

int dumpDocs(const std::string& directory) {
  std::string error;
  return writeDiagnosticPages(directory, &error) ? kDone : usageError(error);
}

int statusOf(const std::vector<Outcome>& outcomes) {
  int status = kDone;
  for (const Outcome& o : outcomes) {
    if (o.result.status == RewriteStatus::Refused) status = std::max<int>(status, kRefused);
    if (o.result.status == RewriteStatus::DoesNotCompile) status = kDoesNotCompile;
  }
  return status;
}

/// Rewrites every program in memory. False, with `*error`, when that could not even begin.
bool rewriteAll(const Arguments& arguments, const std::string& executable, std::vector<Outcome>& outcomes, std::string* error) {
  std::vector<std::unique_ptr<Dialect>> dialects;
  std::vector<const Dialect*> choice;
  for (const std::string& name : arguments.dialect.empty() ? Dialect::builtInNames() : std::vector<std::string>{arguments.dialect}) {
    dialects.push_back(Dialect::load(name, error));
    if (!dialects.back()) return false;
    choice.push_back(dialects.back().get());
  }
  auto jobs = makeJobs(arguments, executable, error);
  if (!jobs || !groupPrograms(*jobs, error)) return false;
  const std::string resourceDir = findResourceDir(executable);
  if (resourceDir.empty()) {
    *error = "Clang's own headers were not found: install libclang-common-19-dev";
    return false;
  }
  for (CompileJob& job : *jobs) {
    Outcome o;
    o.job = std::move(job);
    if (!outputPath(arguments, o.job.file, &o.output, error)) return false;
    for (const std::string& file : o.job.further)
      if (std::string ignored; !outputPath(arguments, file, &ignored, error)) return false;
    o.job.place = placement(arguments, o.job.file, o.output);
    if (!arguments.outputRoot.empty()) o.job.base = ".";
    o.job.lineDirectives = !arguments.units.empty();
    DiagEngine diags(arguments.rewrite.strict, arguments.rewrite.assume);
    o.result = rewrite(arguments.rewrite, o.job, choice, resourceDir, diags);
    o.diagnostics = diags.sorted();
    outcomes.push_back(std::move(o));
  }
  return true;
}

std::string reportText(const std::string& form, const Arguments& arguments, const std::vector<Outcome>& outcomes, int status) {
  if (form == "sarif") return sarifReport(outcomes, status);
  if (form == "html") return htmlReport(outcomes);
  return jsonReport(arguments, outcomes, status);
}

int listPasses() {
  for (const PassInfo& pass : allPasses()) llvm::outs() << llvm::left_justify(pass.name, 18) << pass.what << "\n";
  return kDone;
}

int undoAll(const std::vector<std::string>& sources) {
  std::string error;
  std::vector<std::string> untouched;
  if (!undo(sources, untouched, &error)) return usageError(error);
  for (const std::string& source : untouched) llvm::errs() << "hvdize: note: nothing to undo for '" << source << "': no original of it was kept\n";
  return kDone;
}

// A report for which there is no place is an error before anything is written.
bool placesFor(const Arguments& arguments, std::string* error) {
  namespace fs = llvm::sys::fs;
  for (const auto& [form, file] : arguments.reports) {
    const llvm::StringRef folder = llvm::sys::path::parent_path(file);
    std::string why;
    if (fs::is_directory(file)) why = "it is a directory";
    else if (!folder.empty() && !fs::is_directory(folder)) why = "the folder '" + folder.str() + "' does not exist";
    else if (std::error_code ec = folder.empty() ? std::error_code() : fs::access(folder, fs::AccessMode::Write)) why = ec.message();
    if (why.empty()) continue;
    *error = "cannot write '" + file + "': " + why;
    return false;
  }
  return true;
}

int run(Arguments arguments, const std::string& executable) {
  std::vector<Outcome> outcomes;
  std::string error;
  if (arguments.cache) arguments.rewrite.headerCache = headerCacheFolder();
  if (!placesFor(arguments, &error)) return usageError(error);
  if (!rewriteAll(arguments, executable, outcomes, &error)) return usageError(error);
  int status = statusOf(outcomes);
  if (arguments.rewrite.printModel) printReport(llvm::outs(), arguments, outcomes, llvm::sys::Process::StandardOutHasColors());
  else if (!arguments.silent) printReport(llvm::errs(), arguments, outcomes, llvm::sys::Process::StandardErrHasColors());
  if (status == kDone && !writeOutputs(arguments, outcomes, &error)) status = usageError(error);
  if (!arguments.units.empty() && status != kUsage && status != kDoesNotCompile && !writeUnitFacts(arguments, outcomes, &error)) status = usageError(error);
  for (const auto& [form, file] : arguments.reports)
    if (!writeAtomically(file, reportText(form, arguments, outcomes, status), &error)) return usageError(error);
  return status;
}

}  // namespace
}  // namespace hvdize::tool

int main(int argc, char** argv) {
  using namespace hvdize::tool;
  // Its address says where the executable lies, also when it was found through PATH.
  static int anchor;
  const std::string executable = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
  std::string error;
  const auto arguments = parseArguments(std::vector<std::string>(argv + 1, argv + argc), &error);
  if (!arguments) return usageError(error);
  switch (arguments->action) {
    case Arguments::Action::Help: llvm::outs() << kHelp; return 0;
    case Arguments::Action::Version: llvm::outs() << "hvdize " << HVDIZE_VERSION << "\n"; return 0;
    case Arguments::Action::Explain: return explainOne(arguments->actionArgument);
    case Arguments::Action::DumpDocs: return dumpDocs(arguments->actionArgument);
    case Arguments::Action::ListPasses: return listPasses();
    case Arguments::Action::Undo: return undoAll(arguments->sources);
    case Arguments::Action::Rewrite: break;
  }
  return run(*arguments, executable);
}
