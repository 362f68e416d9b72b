// SPDX-License-Identifier: Apache-2.0
#include "tool/programs.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace hvdize::tool {
namespace {

bool takesFolderOrMacro(llvm::StringRef flag) {
  for (const char* option : {"-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include"})
    if (flag == option) return true;
  return false;
}

/// What another source is compiled with and this one is not: folders and macros.
void addFlags(std::vector<std::string>& flags, const std::vector<std::string>& more) {
  for (size_t i = 0; i < more.size(); ++i) {
    const llvm::StringRef flag = more[i];
    if (takesFolderOrMacro(flag) && i + 1 < more.size()) {
      bool known = false;
      for (size_t k = 0; k + 1 < flags.size(); ++k) known = known || (flags[k] == flag && flags[k + 1] == more[i + 1]);
      if (!known) flags.insert(flags.end(), {more[i], more[i + 1]});
      ++i;
    } else if ((flag.starts_with("-I") || flag.starts_with("-D")) && !llvm::is_contained(flags, flag)) {
      flags.push_back(more[i]);
    }
  }
}

std::string pathOf(const CompileJob& job) {
  llvm::SmallString<256> p(job.file);
  llvm::sys::fs::make_absolute(job.directory, p);
  return p.str().str();
}

}  // namespace

bool definesMain(const std::string& text) {
  clang::LangOptions lo;
  lo.CPlusPlus = lo.CPlusPlus20 = true;
  clang::Lexer lexer(clang::SourceLocation(), lo, text.data(), text.data(), text.data() + text.size());
  clang::Token token;
  int depth = 0;
  bool typed = false, named = false;  // the token before, and the two before
  while (!lexer.LexFromRawLexer(token)) {
    if (token.is(clang::tok::l_brace)) ++depth;
    if (token.is(clang::tok::r_brace)) --depth;
    if (named && token.is(clang::tok::l_paren)) return true;
    const bool word = token.is(clang::tok::raw_identifier);
    named = word && typed && depth == 0 && token.getRawIdentifier() == "main";
    typed = word;
  }
  return false;
}

bool groupPrograms(std::vector<CompileJob>& jobs, std::string* error) {
  if (jobs.size() < 2) return true;
  std::vector<CompileJob> programs, parts;
  for (CompileJob& job : jobs) {
    auto text = llvm::MemoryBuffer::getFile(pathOf(job));
    if (!text) {
      *error = "cannot read '" + job.file + "': " + text.getError().message();
      return false;
    }
    (definesMain((*text)->getBuffer().str()) ? programs : parts).push_back(std::move(job));
  }
  if (!parts.empty() && programs.size() > 1) {
    *error = "'" + programs[0].file + "' and '" + programs[1].file + "' both have a `main`: give hvdize the sources of one program at a time ('" +
             parts[0].file + "' could belong to either)";
    return false;
  }
  if (programs.empty()) programs.push_back(parts.front()), parts.erase(parts.begin());
  for (const CompileJob& part : parts) {
    programs.front().further.push_back(part.file);
    addFlags(programs.front().flags, part.flags);
  }
  jobs = std::move(programs);
  return true;
}

}  // namespace hvdize::tool
