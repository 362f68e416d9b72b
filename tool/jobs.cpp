// SPDX-License-Identifier: Apache-2.0
#include "tool/jobs.h"

#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>

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

std::string runtimeIncludeDir(const std::string& executable) {
  for (const std::string& dir : {beside(executable, "include"), std::string(HVDIZE_BUILD_INCLUDE)})
    if (fs::exists(dir + "/hvd/hvd.hpp")) return dir;
  return "";
}

std::vector<std::string> defaultFlags(const std::string& executable) {
  std::vector<std::string> flags = {"-std=c++20"};
  const std::string include = runtimeIncludeDir(executable);
  if (!include.empty()) flags.insert(flags.end(), {"-isystem", include});
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
  return flags;
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
  if (commands.empty()) {
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
    else job = CompileJob{source, here.str().str(), arguments.compilerFlags ? *arguments.compilerFlags : defaultFlags(executable)};
    if (!job) return std::nullopt;
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
