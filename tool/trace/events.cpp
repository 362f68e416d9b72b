// SPDX-License-Identifier: Apache-2.0
#include "tool/trace/events.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tool/compare/json.h"

namespace hvdize::trace {

namespace {

using compare::JsonValue;

std::string text(const JsonValue* object, const char* key) {
  const JsonValue* value = object ? object->find(key) : nullptr;
  return value && value->kind == JsonValue::String ? value->string : std::string();
}

double number(const JsonValue* object, const char* key) {
  const JsonValue* value = object ? object->find(key) : nullptr;
  return value && value->kind == JsonValue::Number ? value->number : 0;
}

void takeName(Run& run, const JsonValue& json, int rank, int track) {
  const JsonValue* args = json.find("args");
  const std::string name = text(args, "name");
  if (text(&json, "name") == "process_name") {
    run.names[rank] = name;
    run.ranks = std::max(run.ranks, static_cast<int>(number(args, "ranks")));
    run.backend = text(args, "backend");
  } else if (text(&json, "name") == "thread_name") {
    run.track_names[{rank, track}] = name;
  }
}

void take(Run& run, const JsonValue& json) {
  const std::string phase = text(&json, "ph");
  const int rank = static_cast<int>(number(&json, "pid")), track = static_cast<int>(number(&json, "tid"));
  if (phase == "M") return takeName(run, json, rank, track);
  if (phase != "X" && phase != "i") return;
  const JsonValue* args = json.find("args");
  Event event;
  event.rank = rank;
  event.track = track;
  event.category = text(&json, "cat");
  event.name = text(&json, "name");
  event.op = text(args, "op");
  event.start = number(&json, "ts");
  event.length = number(&json, "dur");
  event.bytes = static_cast<std::uint64_t>(number(args, "bytes"));
  event.number = static_cast<std::uint64_t>(number(args, "number"));
  event.staleness = static_cast<std::uint64_t>(number(args, "staleness"));
  event.backend = text(args, "backend");
  const std::string file = text(args, "file");
  if (!file.empty()) event.place = std::filesystem::path(file).filename().string() + ":" + std::to_string(static_cast<int>(number(args, "line")));
  run.events.push_back(std::move(event));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError(path + ": cannot be read");
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void readWhole(Run& run, const std::string& path) {
  try {
    const JsonValue json = compare::parseJson(contents(path));
    const JsonValue* events = json.find("traceEvents");
    if (!events || events->kind != JsonValue::Array) throw TraceError(path + ": no traceEvents, so not a trace");
    for (const JsonValue& event : events->array) take(run, event);
  } catch (const compare::JsonError& error) {
    throw TraceError(path + ": " + error.what());
  }
}

// The last line may have been cut off when its rank died.
void readPart(Run& run, const std::string& path) {
  std::istringstream lines(contents(path));
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;
    try {
      take(run, compare::parseJson(line));
    } catch (const compare::JsonError& error) {
      throw TraceError(path + ": " + error.what() + " in the line " + line);
    }
    run.lines.push_back(line);
  }
}

}  // namespace

Run readRun(const std::string& path) {
  Run run;
  if (std::filesystem::exists(path)) {
    readWhole(run, path);
  } else {
    run.complete = false;
    constexpr int kRanks = 4096;
    for (int r = 0; r < kRanks && r < std::max(run.ranks, 64); ++r)
      if (const std::string part = path + ".rank" + std::to_string(r); std::filesystem::exists(part)) readPart(run, part);
    if (run.lines.empty()) throw TraceError(path + ": no such file, and no parts of a run that was ended beside it (" + path + ".rank0, ...)");
  }
  for (const auto& [rank, name] : run.names) run.present.push_back(rank);
  if (run.present.empty()) throw TraceError(path + ": names no rank, so it is not a trace of HVD_TRACE");
  std::stable_sort(run.events.begin(), run.events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
  return run;
}

void writeMerged(const Run& run, const std::string& path) {
  const std::string unfinished = path + ".part";
  {
    std::ofstream file(unfinished, std::ios::binary);
    file << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    for (std::size_t i = 0; i < run.lines.size(); ++i) file << (i ? ",\n" : "\n") << run.lines[i];
    file << "\n]}\n";
    if (!file.flush()) throw TraceError(unfinished + ": cannot be written");
  }
  std::error_code failed;
  std::filesystem::rename(unfinished, path, failed);
  if (failed) throw TraceError(path + ": " + failed.message());
}

}  // namespace hvdize::trace
