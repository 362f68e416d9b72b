// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a process spends its processor time: a timer interrupts it a thousand times a second of such time, and each time the
// instruction at hand is counted for the library it lies in. oneDNN's generated code lies in no file.

#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace side {

class Samples {
 public:
  static void start() {
    struct sigaction action = {};
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    set_timer(1000);
  }
  static void stop() { set_timer(0); }

  /// Samples by library: the file's name, "generated" outside of any file.
  static std::map<std::string, int> by_library() {
    std::map<std::string, int> counts;
    const size_t n = std::min(taken().load(), places().size());
    for (size_t i = 0; i < n; ++i) ++counts[library_of(places()[i])];
    return counts;
  }

 private:
  static std::array<uintptr_t, 1 << 16>& places() {
    static std::array<uintptr_t, 1 << 16> all;
    return all;
  }
  static std::atomic<size_t>& taken() {
    static std::atomic<size_t> count{0};
    return count;
  }
  static void on_timer(int, siginfo_t*, void* context) {
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    const auto place = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#else
    const auto place = static_cast<uintptr_t>(machine.pc);
#endif
    const size_t i = taken().fetch_add(1);
    if (i < places().size()) places()[i] = place;
  }
  static void set_timer(int microseconds) {
    const itimerval interval = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_PROF, &interval, nullptr);
  }
  static std::string library_of(uintptr_t place) {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(place), &info) || !info.dli_fname) return "generated";
    const char* slash = std::strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
  }
};

}  // namespace side
