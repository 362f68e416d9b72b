// SPDX-License-Identifier: Apache-2.0
#include "tuning.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hvd::dist {

namespace {

// What a backend chooses between, as the table calls it.
const char* way_of(const std::string& backend) { return backend == "local" ? "direct-from" : backend == "mpi" ? "exchange-from" : ""; }

[[noreturn]] void fail(const std::string& path, int line, const std::string& why) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + why + "; run hvd-tune again");
}

std::size_t size_of_text(const std::string& text, const std::string& path, int line) {
  if (text == "never") return kNever;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || text[0] == '-') fail(path, line, "'" + text + "' is no size");
  return static_cast<std::size_t>(value);
}

}  // namespace

TuningTable TuningTable::read(const std::string& path) {
  TuningTable table;
  std::ifstream file(path);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string backend, way, from, rest;
    int ranks = 0;
    if (!(words >> backend >> ranks >> way >> from) || words >> rest || ranks < 2 || way != way_of(backend))
      fail(path, line, "'" + text + "' is not understood");
    table.set(backend, ranks, size_of_text(from, path, line));
  }
  return table;
}

std::string TuningTable::text() const {
  std::string out = "# backend, ranks, bytes from which the other way is taken; written by hvd-tune\n";
  for (const auto& [key, from] : from_)
    out += key.first + " " + std::to_string(key.second) + " " + way_of(key.first) + " " + (from == kNever ? "never" : std::to_string(from)) + "\n";
  return out;
}

void TuningTable::write(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, failed);
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished);
  file << text();
  if (!file.flush()) throw std::runtime_error(unfinished + " cannot be written: " + std::strerror(errno));
  fs::rename(unfinished, path, failed);
  if (failed) throw std::runtime_error(path + " cannot be written: " + failed.message());
}

Tuning TuningTable::of(const std::string& backend, int ranks) const {
  Tuning tuning;
  const auto found = from_.find({backend, ranks});
  if (found == from_.end()) return tuning;
  (backend == "local" ? tuning.direct_from : tuning.exchange_from) = found->second;
  return tuning;
}

std::string tuning_path() {
  const char* const own = std::getenv("HVD_TUNING");
  if (own && *own) return std::strcmp(own, "none") == 0 ? "" : own;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/hvd/tuning";
  const char* const home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/hvd/tuning" : "";
}

Tuning tuning_for(const std::string& backend, int ranks) {
  const std::string path = tuning_path();
  if (path.empty()) return {};
  try {
    return TuningTable::read(path).of(backend, ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd: %s\n", error.what());
    return {};
  }
}

}  // namespace hvd::dist
