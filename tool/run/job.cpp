// SPDX-License-Identifier: Apache-2.0
#include "tool/run/job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

namespace hvdize::run {

namespace {

// After a rank has failed, the guardians of the others have this long to say why and to end them.
constexpr double GuardiansTime = 2.5;
constexpr double AfterRequest = 2;     // between SIGTERM and SIGKILL
constexpr double AfterSignal = 10;     // between a signal of the user and SIGKILL
constexpr double OutputTime = 1;       // for output that is still under way when the last rank has ended
constexpr int EndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int PassedSignals[] = {SIGUSR1, SIGUSR2};

sigset_t handledSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : EndingSignals) sigaddset(&set, number);
  for (const int number : PassedSignals) sigaddset(&set, number);
  return set;
}

// Both ends of a way for output: a terminal where ours is one, so that the program writes every line at once; else a pipe.
bool openOutput(bool terminal, int ends[2]) {
  if (terminal) {
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0) {
      ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
      termios settings;
      if (ends[1] >= 0 && tcgetattr(ends[1], &settings) == 0) {
        cfmakeraw(&settings);
        tcsetattr(ends[1], TCSANOW, &settings);
        return true;
      }
    }
  }
  return pipe2(ends, O_CLOEXEC) == 0;
}

}  // namespace

Job::~Job() {
  if (meetingPoint_ >= 0) close(meetingPoint_);
  if (signals_ >= 0) close(signals_);
}

void Job::say(const std::string& text) const { std::cerr << "hvd-run: " << text << std::endl; }

int Job::living() const {
  return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return !r.ended; }));
}

// A memory file without a name: nothing is left of it when the ranks and this process are gone, however they end.
bool Job::openMeetingPoint() {
  meetingPoint_ = memfd_create("hvd-run", MFD_CLOEXEC);
  if (meetingPoint_ < 0) say(std::string("no shared memory: ") + std::strerror(errno));
  return meetingPoint_ >= 0;
}

bool Job::openSignals() {
  const sigset_t set = handledSignals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) say(std::string("signalfd: ") + std::strerror(errno));
  return signals_ >= 0;
}

void Job::becomeRank(int rank, int output, int errors, int report) const {
  const pid_t launcher = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody outlives the launcher
  if (launcher == 1 || getppid() != launcher) _exit(127);
  const sigset_t set = handledSignals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  if (rank > 0) dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  setenv("HVD_RUN_RANK", std::to_string(rank).c_str(), 1);
  setenv("HVD_RUN_SIZE", std::to_string(options_.ranks).c_str(), 1);
  setenv("HVD_RUN_OWNER", std::to_string(launcher).c_str(), 1);
  setenv("HVD_RUN_FILE", std::to_string(meetingPoint_).c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : options_.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (::write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

// 0, or the error that keeps the program from starting.
int Job::startRank(int rank) {
  int output[2], errors[2], report[2];
  if (!openOutput(isatty(STDOUT_FILENO) == 1, output) || pipe2(errors, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) return errno;
  const pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) becomeRank(rank, output[1], errors[1], report[1]);
  close(output[1]);
  close(errors[1]);
  close(report[1]);
  int error = 0;
  if (::read(report[0], &error, sizeof error) != sizeof error) error = 0;  // closed by a successful exec
  close(report[0]);
  ranks_.push_back({pid, false});
  std::string prefix;
  if (options_.label) prefix.append("[").append(std::to_string(rank)).append("] ");
  outputs_.emplace_back(output[0], STDOUT_FILENO, prefix);
  outputs_.emplace_back(errors[0], STDERR_FILENO, prefix);
  return error;
}

int Job::run() {
  if (!openMeetingPoint() || !openSignals()) return 126;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const int error = startRank(rank);
    if (error == 0) continue;
    say(options_.command[0] + ": " + std::strerror(error));
    signalAll(SIGKILL);
    return error == ENOENT ? 127 : 126;
  }
  loop();
  drainOutput();
  return status_;
}

void Job::loop() {
  while (living() > 0) {
    std::vector<pollfd> wanted{{signals_, POLLIN, 0}};
    bool pending = false;
    for (const LineForwarder& output : outputs_) {
      wanted.push_back({output.source(), POLLIN, 0});  // a negative one is passed over
      pending = pending || output.pending();
    }
    double seconds = pending ? 0.1 : 3600;
    if (phase_ == Phase::Failing || phase_ == Phase::Asked)
      seconds = std::min(seconds, std::chrono::duration<double>(next_ - Clock::now()).count());
    poll(wanted.data(), wanted.size(), std::max(0, static_cast<int>(seconds * 1000) + 1));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (wanted[i + 1].revents) outputs_[i].read();
      outputs_[i].tick(Clock::now());
    }
    if (wanted[0].revents) readSignals();
    if ((phase_ == Phase::Failing || phase_ == Phase::Asked) && Clock::now() >= next_) onTimeout();
  }
}

void Job::readSignals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) reapRanks();
    else onSignal(number, info.ssi_code == SI_KERNEL);
  }
}

void Job::onSignal(int number, bool fromTerminal) {
  if (std::find(std::begin(PassedSignals), std::end(PassedSignals), number) != std::end(PassedSignals)) return signalAll(number);
  // A terminal sends to the whole process group, the ranks among it.
  if (!fromTerminal) signalAll(number);
  if (interrupted_) {
    signalAll(SIGKILL);
    phase_ = Phase::Killed;
    return;
  }
  interrupted_ = true;
  status_ = 128 + number;
  setPhase(Phase::Asked, AfterSignal);
}

void Job::reapRanks() {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (ranks_[i].pid == pid && !ranks_[i].ended) onEnd(static_cast<int>(i), status);
}

void Job::onEnd(int rank, int status) {
  ranks_[static_cast<size_t>(rank)].ended = true;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 0 || phase_ != Phase::Running) return;
  status_ = code;
  setPhase(Phase::Failing, GuardiansTime);
  const std::string who = "rank " + std::to_string(rank) + " (process " + std::to_string(ranks_[static_cast<size_t>(rank)].pid) + ")";
  if (!WIFSIGNALED(status)) {
    quietDeath_ = who + " ended with exit status " + std::to_string(code);
    return;
  }
  const std::string death = who + " was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  // A guardian ends its rank by SIGKILL, and has said why.
  if (WTERMSIG(status) == SIGKILL) quietDeath_ = death;
  else say(death);
}

void Job::setPhase(Phase phase, double secondsToNext) {
  phase_ = phase;
  next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(secondsToNext));
}

void Job::onTimeout() {
  if (phase_ == Phase::Failing) {
    say((quietDeath_.empty() ? "a rank has failed" : quietDeath_) + "; the others are ended");
    signalAll(SIGTERM);
    return setPhase(Phase::Asked, AfterRequest);
  }
  signalAll(SIGKILL);
  phase_ = Phase::Killed;
}

void Job::signalAll(int number) const {
  for (const Rank& rank : ranks_)
    if (!rank.ended) kill(rank.pid, number);
}

// Guardians may still have a last word; what a rank has left running in the background is not waited for.
void Job::drainOutput() {
  const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(OutputTime));
  while (Clock::now() < limit) {
    std::vector<pollfd> wanted;
    for (const LineForwarder& output : outputs_) wanted.push_back({output.source(), POLLIN, 0});
    if (std::none_of(outputs_.begin(), outputs_.end(), [](const LineForwarder& output) { return output.open(); })) break;
    poll(wanted.data(), wanted.size(), 50);
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (wanted[i].revents) outputs_[i].read();
  }
  for (LineForwarder& output : outputs_) output.finish();
}

}  // namespace hvdize::run
