// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace hvdize::compare {
namespace {

using Clock = std::chrono::steady_clock;

// A signal handler can reach nothing but an object of static storage.
volatile sig_atomic_t interruptSignal = 0;

void noteSignal(int number) { interruptSignal = number; }

// The parent of each process, from /proc/<pid>/stat; the name in it may hold spaces and parentheses.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> result;
  DIR* proc = opendir("/proc");
  if (!proc) return result;
  while (const dirent* entry = readdir(proc)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    std::ifstream file(std::string("/proc/") + entry->d_name + "/stat");
    std::stringstream content;
    content << file.rdbuf();
    const std::string text = content.str();
    const size_t close = text.rfind(')');
    char state = 0;
    long parent = 0;
    if (close != std::string::npos && std::sscanf(text.c_str() + close + 1, " %c %ld", &state, &parent) == 2 && state != 'Z')
      result[std::atoi(entry->d_name)] = static_cast<pid_t>(parent);
  }
  closedir(proc);
  return result;
}

// All living descendants of this process: as the adopter of orphans it is above every process that a run started.
std::vector<pid_t> descendants() {
  const std::map<pid_t, pid_t> parentOf = parents();
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parentOf) {
    pid_t above = parent;
    for (int depth = 0; depth < 64 && above > 1 && above != getpid(); ++depth) {
      const auto next = parentOf.find(above);
      above = next == parentOf.end() ? 0 : next->second;
    }
    if (above == getpid()) found.push_back(pid);
  }
  return found;
}

void reapAll() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// Kills every descendant, again and again until none is left, because a dying tree may still fork. Returns how many there were.
int killDescendants() {
  int count = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<pid_t> living = descendants();
    if (living.empty()) break;
    if (round == 0) count = static_cast<int>(living.size());
    for (const pid_t pid : living) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reapAll();
  }
  reapAll();
  return count;
}

void redirect(const std::string& path, int flags, int to) {
  const int file = open(path.c_str(), flags, 0644);
  if (file < 0 || dup2(file, to) < 0) _exit(127);
  close(file);
}

[[noreturn]] void becomeProgram(const ProcessRequest& request) {
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  redirect("/dev/null", O_RDONLY, 0);
  redirect(request.outputFile, O_WRONLY | O_CREAT | O_TRUNC, 1);
  redirect(request.errorFile, O_WRONLY | O_CREAT | O_TRUNC, 2);
  if (chdir(request.directory.c_str()) != 0) _exit(127);
  for (const std::string& assignment : request.environment) {
    const size_t equals = assignment.find('=');
    setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : request.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "%s: cannot be started\n", arguments[0]);
  _exit(127);
}

// Waits for the child until `deadline` or a signal to us; true when it has ended.
bool waitUntil(pid_t child, Clock::time_point deadline, int* status) {
  while (Clock::now() < deadline && interruptSignal == 0) {
    const pid_t ended = waitpid(child, status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

std::string ProcessResult::text(double timeoutSeconds) const {
  if (!started) return "could not be started";
  if (interrupted) return "interrupted";
  if (timedOut) {
    std::ostringstream out;
    out << "no end within " << timeoutSeconds << " s: killed";
    return out.str();
  }
  if (status > 128) return "exit status " + std::to_string(status) + " (signal " + std::to_string(status - 128) + ")";
  return "exit status " + std::to_string(status);
}

void adoptOrphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action = {};
  action.sa_handler = noteSignal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

ProcessResult run(const ProcessRequest& request) {
  ProcessResult result;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request.timeoutSeconds));
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) becomeProgram(request);
  result.started = true;
  int status = 0;
  if (!waitUntil(child, deadline, &status)) {
    result.interrupted = interruptSignal != 0;
    result.timedOut = !result.interrupted;
    // mpirun ends its ranks and removes its own files when it is asked; what does not go is killed.
    kill(-child, SIGTERM);
    const int signalSeen = interruptSignal;
    interruptSignal = 0;
    waitUntil(child, Clock::now() + std::chrono::seconds(3), &status);
    interruptSignal = signalSeen;
    killDescendants();
    return result;
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  // What watches over a rank may end a moment after it.
  for (int round = 0; round < 200 && !descendants().empty(); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reapAll();
  }
  result.strays = killDescendants();
  return result;
}

}  // namespace hvdize::compare
