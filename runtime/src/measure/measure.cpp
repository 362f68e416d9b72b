// SPDX-License-Identifier: Apache-2.0
#include <hvd/measure.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace hvd {

Phases::Phases() : since_(Clock::now()) {}

void Phases::charge() {
  const Clock::time_point now = Clock::now();
  if (running_ >= 0) seconds_[running_].second += std::chrono::duration<double>(now - since_).count();
  since_ = now;
}

void Phases::enter(const std::string& phase) {
  charge();
  for (running_ = 0; running_ < static_cast<int>(seconds_.size()); ++running_)
    if (seconds_[running_].first == phase) return;
  seconds_.emplace_back(phase, 0.0);
}

void Phases::leave() {
  charge();
  running_ = -1;
}

double Phases::seconds(const std::string& phase) const {
  for (const auto& [name, total] : seconds_)
    if (name == phase) return total;
  return 0;
}

std::string Phases::summary() const {
  std::string out;
  for (const auto& [name, total] : seconds_) {
    char text[64];
    std::snprintf(text, sizeof text, " %.2f s", total);
    out += (out.empty() ? "" : ", ") + name + text;
  }
  return out;
}

namespace {

bool read_number(const std::string& file, unsigned long long& out) {
  std::ifstream in(file);
  return static_cast<bool>(in >> out);
}

}  // namespace

EnergyMeter::EnergyMeter() {
  const std::filesystem::path folder = "/sys/class/powercap";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    // Packages are intel-rapl:0, intel-rapl:1, ...; further colons are parts of a package.
    if (name.rfind("intel-rapl:", 0) != 0 || name.find(':') != name.rfind(':')) continue;
    Package package{(entry.path() / "energy_uj").string(), 0, 0};
    if (read_number(package.file, package.start) && read_number((entry.path() / "max_energy_range_uj").string(), package.range))
      packages_.push_back(package);
    else
      why_ = "'" + package.file + "' cannot be read";
  }
  if (packages_.empty() && why_.empty()) why_ = "this machine has no RAPL counters";
}

std::string EnergyMeter::summary() const {
  if (packages_.empty()) return "energy unavailable: " + why_;
  double joules = 0;
  for (const Package& package : packages_) {
    unsigned long long now = 0;
    if (!read_number(package.file, now)) return "energy unavailable: '" + package.file + "' cannot be read any more";
    joules += 1e-6 * static_cast<double>(now >= package.start ? now - package.start : now + package.range - package.start);
  }
  char text[64];
  std::snprintf(text, sizeof text, "energy %.1f J (%zu package%s)", joules, packages_.size(), packages_.size() == 1 ? "" : "s");
  return text;
}

}  // namespace hvd
