// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#include "rank.hpp"

namespace hvd::dist {

namespace {

constexpr int kProgramTrack = 0;
constexpr std::size_t kBufferBytes = 64 * 1024;
constexpr std::int64_t kFlushAfter = 50'000'000;  // ns

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::none: return "";
    case Phase::loading: return "loading";
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::rest: return "rest of the step";
    case Phase::reduce: return "reduce gradients";
    case Phase::update: return "update";
  }
  return "";
}

// A text as it stands between quotes in JSON.
std::string escaped(const char* text) {
  std::string out;
  for (const char* c = text; *c; ++c) {
    if (*c == '"' || *c == '\\') out += '\\';
    if (static_cast<unsigned char>(*c) >= 0x20) out += *c;
  }
  return out;
}

std::string field(const char* name, std::uint64_t value) { return ",\"" + std::string(name) + "\":" + std::to_string(value); }
std::string field(const char* name, const char* value) { return ",\"" + std::string(name) + "\":\"" + escaped(value) + "\""; }

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

void remove_leftovers(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const std::filesystem::path file(path);
  const std::string prefix = file.filename().string() + ".rank";
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) == 0 && name.size() > prefix.size() && name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      found.push_back(entry.path());
  }
  for (const auto& part : found) std::filesystem::remove(part, ignored);
}

}  // namespace

std::int64_t Trace::now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

Trace::Trace(std::string path, int rank, int size, const char* backend)
    : path_(std::move(path)), rank_(rank), size_(size) {
  const std::string part = part_path(path_, rank);
  file_ = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) throw std::runtime_error(part + " cannot be written: " + std::strerror(errno));
  const std::string who = "rank " + std::to_string(rank) + " (" + host_name() + ")";
  event("{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"" + escaped(who.c_str()) + "\"" +
        field("ranks", static_cast<std::uint64_t>(size)) + field("backend", backend) + "}");
  event("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + std::to_string(rank) + "}");
  name_track(kProgramTrack, "program");
  flush();
}

Trace::~Trace() {
  if (file_ < 0) return;
  flush();
  close(file_);
}

void Trace::set_offset(std::int64_t nanoseconds) { offset_ = nanoseconds; }

void Trace::write_buffer() {
  const char* data = buffer_.data();
  for (std::size_t left = buffer_.size(); left;) {
    const ssize_t n = ::write(file_, data, left);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // a full disk: the run is worth more than its trace
    data += n;
    left -= static_cast<std::size_t>(n);
  }
  buffer_.clear();
  flushed_ = now();
}

void Trace::flush(bool soon) {
  const std::lock_guard lock(mutex_);
  if (buffer_.empty() || (soon && now() - flushed_ < kFlushAfter)) return;
  write_buffer();
}

// `json` is an event without its rank and its closing brace.
void Trace::event(const std::string& json) {
  const std::lock_guard lock(mutex_);
  buffer_ += json + ",\"pid\":" + std::to_string(rank_) + "}\n";
  if (buffer_.size() > kBufferBytes) write_buffer();
}

std::string Trace::times(std::int64_t begun, std::int64_t ended) const {
  char text[96];
  std::snprintf(text, sizeof text, ",\"ts\":%.3f,\"dur\":%.3f", static_cast<double>(begun + offset_) * 1e-3,
                static_cast<double>(ended - begun) * 1e-3);
  return text;
}

void Trace::name_track(int track, const std::string& name) {
  event("{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":" + std::to_string(track) + ",\"args\":{\"name\":\"" + escaped(name.c_str()) + "\"}");
}

void Trace::phase(Phase next, std::int64_t batch) {
  if (next == phase_) return;
  const std::int64_t at = now();
  if (phase_ != Phase::none)
    event("{\"ph\":\"X\",\"cat\":\"phase\",\"name\":\"" + std::string(name_of(phase_)) + "\",\"tid\":0" + times(phase_begun_, at) +
          ",\"args\":{\"batch\":" + std::to_string(batch_) + "}");
  phase_ = next;
  batch_ = batch;
  phase_begun_ = at;
}

void Trace::operation(int track, const Operation& o, std::int64_t begun) {
  std::string args = "\"op\":\"" + std::string(o.op) + "\"" + field("bytes", o.bytes) + field("count", o.count) + field("type", o.type) +
                     field("backend", o.backend) + field("number", o.number);
  if (o.peer >= 0) args += field("peer", static_cast<std::uint64_t>(o.peer));
  if (o.name.bucket >= 0) args += field("bucket", static_cast<std::uint64_t>(o.name.bucket));
  if (o.name.batch >= 0) args += field("batch", static_cast<std::uint64_t>(o.name.batch));
  if (o.name.line) args += field("file", o.name.file) + field("line", static_cast<std::uint64_t>(o.name.line));
  const std::string name = std::string(o.op) + " " + o.name.name;
  event("{\"ph\":\"X\",\"cat\":\"" + std::string(o.peer < 0 ? "collective" : "message") + "\",\"name\":\"" + escaped(name.c_str()) +
        "\",\"tid\":" + std::to_string(track) + times(begun, now()) + ",\"args\":{" + args + "}");
}

void Trace::wait(const char* what, std::int64_t begun) {
  event("{\"ph\":\"X\",\"cat\":\"wait\",\"name\":\"wait for " + std::string(what) + "\",\"tid\":0" + times(begun, now()));
}

// Something that happens to the program's thread at one moment; `args` are fields without their braces, or nothing.
void Trace::instant(const char* category, const std::string& name, const std::string& args) {
  char time[48];
  std::snprintf(time, sizeof time, ",\"ts\":%.3f", static_cast<double>(now() + offset_) * 1e-3);
  event("{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"" + std::string(category) + "\",\"name\":\"" + name + "\",\"tid\":0" + time +
        (args.empty() ? "" : ",\"args\":{" + args + "}"));
}

void Trace::bucket(std::size_t index, std::size_t bytes, std::size_t tensors) {
  instant("bucket", "bucket " + std::to_string(index), "\"bucket\":" + std::to_string(index) + field("bytes", bytes) + field("tensors", tensors));
}

void Trace::push(std::int64_t step, std::size_t staleness) {
  instant("push", "push " + std::to_string(step), "\"step\":" + std::to_string(step) + field("staleness", staleness));
}

void Trace::pull(std::int64_t step) { instant("pull", "pull " + std::to_string(step), "\"step\":" + std::to_string(step)); }

void Trace::shares(const std::vector<std::int64_t>& shares) {
  std::string list;
  for (const std::int64_t share : shares) {
    if (!list.empty()) list += ',';
    list += std::to_string(share);
  }
  instant("shares", "shares " + list, {});
}

void trace_phase(Phase phase) {
  Rank* rank = this_rank();
  if (rank && rank->measured) rank->measured->meter.working(phase != Phase::none);
  if (rank && rank->trace) rank->trace->phase(phase, rank->batches);
}

// What earlier runs have left is gone before the first rank writes.
void Rank::begin_trace(const std::string& path) {
  if (rank() == 0) remove_leftovers(path);
  if (size() > 1) comm->barrier({"trace"});
  std::string failed;
  try {
    trace = std::make_unique<Trace>(path, rank(), size(), comm->backend());
  } catch (const std::exception& error) {
    failed = error.what();
  }
  for (int r = 0; r < size(); ++r) {
    const std::string theirs = size() > 1 ? broadcast_text(*comm, failed, r, {"trace"}) : failed;
    if (theirs.empty()) continue;
    trace.reset();
    throw std::runtime_error("HVD_TRACE: " + theirs);
  }
  if (size() > 1) trace->set_offset(clock_offset(*comm));
  comm->trace(trace.get(), kProgramTrack);
}

void Rank::end_trace() {
  if (!trace) return;
  comm->trace(nullptr, kProgramTrack);
  trace->phase(Phase::none, batches);
  trace->finish(*comm);
  trace.reset();
}

}  // namespace hvd::dist
