// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/verify.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tool/compare/process.h"
#include "tool/compare/report.h"

namespace hvdize::compare {
namespace {

namespace fs = std::filesystem;

// The folder of one hvd-verify: <root>/<run>/files is where a program runs, its standard output and error lie beside it.
class Scratch {
 public:
  explicit Scratch(bool keep) : keep_(keep) {
    std::string pattern = (fs::temp_directory_path() / "hvd-verify-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error(pattern + ": cannot be made");
    root_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (keep_) std::cout << "kept: " << root_.string() << "\n";
    else fs::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string folder(const std::string& run, const std::vector<std::string>& copies) const {
    const fs::path files = root_ / run / "files";
    fs::create_directories(files);
    for (const std::string& copy : copies) {
      const fs::path from = fs::absolute(copy).lexically_normal();
      fs::copy(from, files / (from.has_filename() ? from.filename() : from.parent_path().filename()), fs::copy_options::recursive);
    }
    return files.string();
  }
  std::string file(const std::string& run, const std::string& name) const { return (root_ / run / name).string(); }

 private:
  bool keep_;
  fs::path root_;
};

// A program that is named with a slash, or that is a file here, is meant relative to where hvd-verify was called, not to the scratch folder.
std::vector<std::string> withAbsoluteProgram(std::vector<std::string> command) {
  if (command[0].find('/') != std::string::npos || fs::is_regular_file(command[0])) command[0] = fs::absolute(command[0]).lexically_normal().string();
  return command;
}

std::string tail(const std::string& path, size_t lines) {
  const std::string content = readFile(path);
  size_t at = content.size();
  for (size_t i = 0; at > 0 && i <= lines; ++i) {
    at = content.rfind('\n', at - 1);
    if (at == std::string::npos) return content;
  }
  return at == 0 ? content : content.substr(at + 1);
}

std::string indented(const std::string& text) {
  std::string out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out += "\n    " + line;
  return out;
}

struct Run {
  std::string failure;  ///< empty: it ended as expected
  bool interrupted = false;
  std::string folder, output;
};

Run execute(const Options& options, const Scratch& scratch, const std::string& name, std::vector<std::string> command,
            const std::vector<std::string>& environment) {
  Run result;
  result.folder = scratch.folder(name, options.copies);
  ProcessRequest request;
  request.command = std::move(command);
  request.environment = environment;
  request.directory = result.folder;
  request.outputFile = scratch.file(name, "stdout");
  request.errorFile = scratch.file(name, "stderr");
  request.timeoutSeconds = options.timeoutSeconds;
  const ProcessResult process = run(request);
  result.interrupted = process.interrupted;
  if (process.timedOut || process.interrupted || !process.started) result.failure = process.text(options.timeoutSeconds);
  else if (process.status != options.expectStatus)
    result.failure = process.text(options.timeoutSeconds) + ", " + std::to_string(options.expectStatus) + " was expected";
  else if (process.strays > 0) result.failure = "it left " + std::to_string(process.strays) + " processes behind, which were killed";
  if (!result.failure.empty()) result.failure += "; the end of its standard error:" + indented(tail(request.errorFile, 15));
  else result.output = readFile(request.outputFile);
  return result;
}

FileRules rulesFor(const Options& options, bool exact) {
  FileRules rules;
  rules.text.exact = rules.tensors.exact = exact;
  if (options.tolerance) rules.text.tolerance = rules.tensors.textTolerance = *options.tolerance;
  rules.tensors.tolerance = options.tolerance;
  for (const std::string& expression : options.ignoreLines) rules.text.ignoredLines.emplace_back(expression);
  for (const std::string& expression : options.excludeTensors) rules.tensors.excluded.emplace_back(expression);
  return rules;
}

RankReport compareRun(const Options& options, int ranks, const Run& sequential, const Run& distributed) {
  RankReport report;
  report.ranks = ranks;
  report.failure = distributed.failure;
  report.ran = distributed.failure.empty();
  if (!report.ran) return report;
  const FileRules rules = rulesFor(options, ranks == 1);
  report.text = compareText(sequential.output, distributed.output, rules.text);
  report.files = compareFolders(sequential.folder, distributed.folder, rules);
  return report;
}

ExitCode verdict(const std::vector<RankReport>& reports) {
  ExitCode code = ExitCode::Equal;
  for (const RankReport& report : reports) {
    if (!report.ran) return ExitCode::ProgramFailed;
    if (!report.equal()) code = ExitCode::Different;
  }
  return code;
}

void appendRows(const Options& options, const std::vector<RankReport>& reports) {
  if (options.rowsFile.empty()) return;
  std::ofstream file(options.rowsFile, std::ios::app);
  file << renderRows(options, reports) << std::flush;
  if (!file) throw std::runtime_error(options.rowsFile + ": cannot be written");
}

}  // namespace

std::vector<std::string> launchCommand(const std::vector<std::string>& program, int ranks, int cores, const std::string& launcher) {
  if (ranks == 1) return program;
  if (std::filesystem::path(launcher).filename() == "hvd-run") {
    std::vector<std::string> command = {launcher, "-n", std::to_string(ranks)};
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }
  std::vector<std::string> command = {launcher, "--oversubscribe", "-np", std::to_string(ranks)};
  // Ranks that wait must let others compute.
  if (ranks > cores) command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::vector<std::string> runEnvironment() {
  std::vector<std::string> environment;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    if (!std::getenv(name)) environment.push_back(std::string(name) + "=1");
  // In a container everything runs as root, where Open MPI wants to be told that this is meant.
  if (geteuid() == 0) environment.insert(environment.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  return environment;
}

ExitCode verify(const Options& options, const std::string& launcher) {
  const Scratch scratch(options.keep);
  const std::vector<std::string> environment = runEnvironment();
  const Run sequential = execute(options, scratch, "sequential", withAbsoluteProgram(options.sequential), environment);
  if (!sequential.failure.empty()) {
    std::cout << "the sequential program: " << sequential.failure << "\n";
    return ExitCode::ProgramFailed;
  }
  std::vector<std::string> distributedEnvironment = environment;
  distributedEnvironment.insert(distributedEnvironment.end(), options.environment.begin(), options.environment.end());
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<RankReport> reports;
  for (const int ranks : options.ranks) {
    const std::vector<std::string> command =
        launchCommand(withAbsoluteProgram(options.distributed), ranks, cores, withAbsoluteProgram({launcher}).front());
    const Run run = execute(options, scratch, "ranks-" + std::to_string(ranks), command, distributedEnvironment);
    reports.push_back(compareRun(options, ranks, sequential, run));
    if (run.interrupted) break;
  }
  std::cout << renderReport(options, reports) << std::flush;
  appendRows(options, reports);
  return verdict(reports);
}

}  // namespace hvdize::compare
