// SPDX-License-Identifier: Apache-2.0
//
// Runs a program with a deadline and leaves no process behind.
#pragma once

#include <string>
#include <vector>

namespace hvdize::compare {

struct ProcessRequest {
  std::vector<std::string> command;      ///< looked up in PATH when it holds no slash
  std::vector<std::string> environment;  ///< NAME=VALUE, added to ours
  std::string directory;                 ///< where it runs
  std::string outputFile, errorFile;     ///< standard output and error go there
  double timeoutSeconds = 300;
};

struct ProcessResult {
  bool started = false;
  bool timedOut = false;
  bool interrupted = false;  ///< we were asked to end (SIGINT, SIGTERM, SIGHUP)
  int status = 0;            ///< exit status; 128 + signal when a signal ended it
  int strays = 0;            ///< processes that outlived the program and were killed

  /// "exit status 1", "killed by signal 9", "no end within 300 s", "could not be started".
  std::string text(double timeoutSeconds) const;
};

/// Makes this process the parent of everything its children leave behind, and notes signals instead of dying by them. Call once.
void adoptOrphans();

/// Runs the command to its end, or to its deadline; then it and all that it started are killed. Standard input is empty.
ProcessResult run(const ProcessRequest& request);

}  // namespace hvdize::compare
