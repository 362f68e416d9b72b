// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace hvd {

/// Wall-clock seconds by phase of a training program. At any time one phase runs; the time from one enter() to the next belongs to
/// it.
class Phases {
 public:
  Phases();
  /// From here on the phase of that name runs.
  void enter(const std::string& phase);
  /// From here on none.
  void leave();
  double seconds(const std::string& phase) const;
  /// "load 0.12 s, forward 1.03 s, ...", in the order of the first enter().
  std::string summary() const;

 private:
  using Clock = std::chrono::steady_clock;
  void charge();

  std::vector<std::pair<std::string, double>> seconds_;
  int running_ = -1;
  Clock::time_point since_;
};

/// Energy that the processor packages have used since construction, read from Linux' powercap counters (RAPL).
class EnergyMeter {
 public:
  EnergyMeter();
  /// "energy 12.3 J (package)" or "energy unavailable: why".
  std::string summary() const;

 private:
  struct Package {
    std::string file;
    unsigned long long start = 0, range = 0;  // in microjoules; the counter starts anew beyond its range
  };
  std::vector<Package> packages_;
  std::string why_;
};

}  // namespace hvd
