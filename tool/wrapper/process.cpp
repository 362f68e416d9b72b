// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

std::vector<char*> pointers(const Words& command) {
  std::vector<char*> list;
  for (const std::string& word : command) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void runInChild(const std::vector<char*>& list, const std::string& folder, const std::string& messages, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
  if (!messages.empty()) {
    const int file = open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) _exit(126);
    dup2(file, 1);
    dup2(file, 2);
  }
  execvp(list[0], list.data());
  const std::string why = std::string("hvdize-c++: error: cannot run '") + list[0] + "': " + std::strerror(errno) + "\n";
  if (write(2, why.data(), why.size()) < 0) _exit(126);
  _exit(127);
}

}  // namespace

void become(const Words& command) {
  const std::vector<char*> list = pointers(command);
  execvp(list[0], list.data());
  throw std::runtime_error("cannot run '" + command[0] + "': " + std::strerror(errno));
}

int run(const Words& command, const std::string& folder, const std::string& messages) {
  const std::vector<char*> list = pointers(command);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) runInChild(list, folder, messages, parent);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(std::string("cannot wait for a process: ") + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Words commandAsGiven(const Command& command) {
  Words words = command.compiler;
  words.insert(words.end(), command.original.begin(), command.original.end());
  return words;
}

Words shortened(const Words& command, size_t program, const std::string& folder) {
  size_t length = 0;
  for (const std::string& word : command) length += word.size() + 1;
  if (length < 100000) return command;
  std::string text;
  for (size_t i = program + 1; i < command.size(); ++i) {
    for (char c : command[i]) {
      if (std::strchr(" \t\n\"'\\", c)) text += '\\';
      text += c;
    }
    text += command[i].empty() ? "\"\"\n" : "\n";
  }
  makeFolders(folder);
  const std::string file = folder + "/arguments";
  writeFile(file, text);
  Words words(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(program) + 1);
  words.push_back("@" + file);
  return words;
}

}  // namespace hvdize::wrapper
