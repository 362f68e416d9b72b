// SPDX-License-Identifier: Apache-2.0
#include "tool/jobs.h"

#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>

#include "tool/standard.h"

namespace hvdize::tool {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string beside(const std::string& executable, llvm::StringRef relative) {
  llvm::SmallString<256> p(path::parent_path(executable));
  path::append(p, "..", relative);
  path::remove_dots(p, /*remove_dot_dot=*/true);
  return p.str().str();
}

/// The folders of the runtime's headers: installed beside the program, else those of the source tree it was built from.
std::vector<std::string> runtimeIncludeDirs(const std::string& executable) {
  const std::string installed = beside(executable, "include");
  if (fs::exists(installed + "/hvd/session.hpp") || fs::exists(installed + "/hvd/hvd.hpp")) return {installed};
  std::vector<std::string> dirs;
  for (const char* dir : {HVDIZE_BUILD_INCLUDE, HVDIZE_BUILD_TORCH_INCLUDE})
    if (fs::exists(dir)) dirs.emplace_back(dir);
  return dirs;
}

/// What a file is compiled with when nobody says: the headers that came with hvdize, and LibTorch where Debian's package puts it.
std::vector<std::string> defaultFlags() {
  std::vector<std::string> flags = {"-std=c++20"};
  const std::string torch = "/usr/include/torch/csrc/api/include";
  if (fs::exists(torch)) flags.insert(flags.end(), {"-isystem", torch});
  return flags;
}

/// Behind all folders of the author's: the rewritten file includes the runtime's headers.
void addRuntimeHeaders(const std::string& executable, std::vector<std::string>& flags) {
  for (const std::string& dir : runtimeIncludeDirs(executable)) flags.insert(flags.end(), {"-idirafter", dir});
}

/// CMake has Clang include a target's precompiled header, and then the text that it was made of, by "-Xclang -include-pch -Xclang FILE.pch
/// -Xclang -include -Xclang FILE": the text alone says the same, and can be edited.
std::vector<std::string> withoutClangsForm(const std::vector<std::string>& given) {
  std::vector<std::string> flags;
  for (size_t i = 0; i < given.size(); ++i) {
    const bool four = given[i] == "-Xclang" && i + 3 < given.size() && given[i + 2] == "-Xclang";
    if (four && given[i + 1] == "-include") flags.insert(flags.end(), {"-include", given[i + 3]});
    if (four && (given[i + 1] == "-include" || given[i + 1] == "-include-pch")) i += 3;
    else flags.push_back(given[i]);
  }
  return flags;
}

/// Leaves out compiler, source, outputs and what only a code generator reads.
std::vector<std::string> parseFlags(const clang::tooling::CompileCommand& command) {
  using namespace clang::tooling;
  const ArgumentsAdjuster adjust = combineAdjusters(getClangStripOutputAdjuster(), getClangStripDependencyFileAdjuster());
  const CommandLineArguments adjusted = adjust(command.CommandLine, command.Filename);
  std::vector<std::string> flags;
  for (size_t i = 1; i < adjusted.size(); ++i) {
    const std::string& arg = adjusted[i];
    if (arg == command.Filename || arg == "-c" || arg == "--" || arg == "-Winvalid-pch") continue;
    // Compiler launchers come first, with the compiler's name behind them.
    if (flags.empty() && i == 1 && !llvm::StringRef(arg).starts_with("-") && path::filename(adjusted[0]).contains("cache")) continue;
    flags.push_back(arg);
  }
  return withoutClangsForm(flags);
}

bool readable(const std::string& source, std::string* error) {
  fs::file_status status;
  if (std::error_code ec = fs::status(source, status)) {
    *error = "cannot read '" + source + "': " + ec.message();
    return false;
  }
  if (status.type() == fs::file_type::directory_file) {
    *error = "cannot read '" + source + "': it is a directory";
    return false;
  }
  if (std::error_code ec = fs::access(source, fs::AccessMode::Exist)) {
    *error = "cannot read '" + source + "': " + ec.message();
    return false;
  }
  return true;
}

std::optional<CompileJob> fromDatabase(const clang::tooling::CompilationDatabase& database, const std::string& source, std::string* error) {
  llvm::SmallString<256> absolute(source);
  fs::make_absolute(absolute);
  path::remove_dots(absolute, /*remove_dot_dot=*/true);
  const auto commands = database.getCompileCommands(absolute);
  // Those of a file with a similar name may be another program's, with its headers.
  if (commands.empty() || !commands.front().Heuristic.empty()) {
    *error = "the compile database has no entry for '" + source + "'";
    return std::nullopt;
  }
  return CompileJob{absolute.str().str(), commands.front().Directory, parseFlags(commands.front())};
}

}  // namespace

std::optional<std::vector<CompileJob>> makeJobs(const Arguments& arguments, const std::string& executable, std::string* error) {
  std::unique_ptr<clang::tooling::CompilationDatabase> database;
  if (!arguments.database.empty()) {
    std::string why;
    database = clang::tooling::CompilationDatabase::loadFromDirectory(arguments.database, why);
    if (!database) {
      *error = "no compile database in '" + arguments.database + "' (CMake writes one with CMAKE_EXPORT_COMPILE_COMMANDS=ON)";
      return std::nullopt;
    }
  }
  llvm::SmallString<256> here;
  fs::current_path(here);
  std::vector<CompileJob> jobs;
  for (const std::string& source : arguments.sources) {
    if (!readable(source, error)) return std::nullopt;
    std::optional<CompileJob> job;
    if (database) job = fromDatabase(*database, source, error);
    else job = CompileJob{source, here.str().str(), arguments.compilerFlags ? *arguments.compilerFlags : defaultFlags()};
    if (!job) return std::nullopt;
    job->standard = neededStandard(job->flags);
    if (!job->standard.empty()) job->flags.push_back(job->standard);
    addRuntimeHeaders(executable, job->flags);
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

std::string findResourceDir(const std::string& executable) {
  for (const std::string& dir :
       {beside(executable, "lib/clang/19"), std::string(HVDIZE_RESOURCE_DIR), std::string("/usr/lib/llvm-19/lib/clang/19"), std::string("/usr/lib/clang/19")})
    if (fs::exists(dir + "/include/stddef.h")) return dir;
  return "";
}

}  // namespace hvdize::tool
