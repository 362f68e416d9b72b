// SPDX-License-Identifier: Apache-2.0

// The traces of all ranks on one clock, in one file.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "trace.hpp"

namespace hvd::dist {

namespace {

constexpr std::size_t kPartBytes = 256 * 1024;  // bytes of a part that travel together
constexpr int kPings = 64;
constexpr int kTag = 0;

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

// Events, one a line, become the elements of one array.
class EventFile {
 public:
  explicit EventFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
    if (!file_) throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
    write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  }
  ~EventFile() {
    if (file_) std::fclose(file_);
  }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add(const char* data, std::size_t bytes) {
    for (const char* const end = data + bytes; data < end;) {
      const char* stop = static_cast<const char*>(std::memchr(data, '\n', static_cast<std::size_t>(end - data)));
      line_.append(data, stop ? stop : end);
      if (!stop) return;
      write((first_ ? "\n" : ",\n") + line_);
      first_ = false;
      line_.clear();
      data = stop + 1;
    }
  }
  void close() {
    write("\n]}\n");
    const bool good = !std::ferror(file_) && std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!good || !closed) throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
  }

 private:
  void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_); }

  std::string path_, line_;
  std::FILE* file_;
  bool first_ = true;
};

void each_piece(const std::string& path, const std::function<void(const std::string&)>& use) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(kPartBytes, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(kPartBytes));
    if (file.gcount()) use(piece.substr(0, static_cast<std::size_t>(file.gcount())));
  }
}

}  // namespace

std::int64_t best_offset(const std::vector<Ping>& pings) {
  const auto quickest = std::min_element(pings.begin(), pings.end(), [](const Ping& a, const Ping& b) {
    return a.received - a.sent < b.received - b.sent;
  });
  return quickest == pings.end() ? 0 : quickest->answered - (quickest->sent + (quickest->received - quickest->sent) / 2);
}

std::int64_t clock_offset(Communicator& comm) {
  const std::string mine = boot_id();
  std::uint64_t hash = std::hash<std::string>()(mine);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
  comm.allgather(&hash, 1, all.data(), DataType::uint64, {"clocks"});
  std::vector<Ping> pings;
  for (int r = 1; r < comm.size(); ++r) {
    if (all[static_cast<std::size_t>(r)] == all[0] || (comm.rank() != 0 && comm.rank() != r)) continue;
    for (int i = 0; i < kPings; ++i) {
      Ping ping{Trace::now(), 0, 0};
      if (comm.rank() == r) {
        comm.send(&ping.sent, 1, DataType::int64, 0, kTag, {"clocks"});
        comm.recv(&ping.answered, 1, DataType::int64, 0, kTag, {"clocks"});
        ping.received = Trace::now();
        pings.push_back(ping);
      } else {
        comm.recv(&ping.sent, 1, DataType::int64, r, kTag, {"clocks"});
        ping.answered = Trace::now();
        comm.send(&ping.answered, 1, DataType::int64, r, kTag, {"clocks"});
      }
    }
  }
  return best_offset(pings);
}

void Trace::send_part(Communicator& comm) {
  const auto send = [&](const std::string& piece) {
    const std::uint64_t bytes = piece.size();
    comm.send(&bytes, 1, DataType::uint64, 0, kTag, {"trace"});
    if (bytes) comm.send(piece.data(), piece.size(), DataType::uint8, 0, kTag, {"trace"});
  };
  each_piece(part_path(path_, rank_), send);
  send({});
}

void Trace::merge(Communicator& comm) {
  const std::string unfinished = path_ + ".part";
  std::string failed;
  std::unique_ptr<EventFile> file;
  const auto attempt = [&](const std::function<void()>& body) {  // the others send in any case
    try {
      if (failed.empty()) body();
    } catch (const std::exception& error) {
      failed = error.what();
    }
  };
  attempt([&] { file = std::make_unique<EventFile>(unfinished); });
  attempt([&] { each_piece(part_path(path_, 0), [&](const std::string& piece) { file->add(piece.data(), piece.size()); }); });
  for (int r = 1; r < size_; ++r) {
    for (;;) {
      std::uint64_t bytes = 0;
      comm.recv(&bytes, 1, DataType::uint64, r, kTag, {"trace"});
      if (bytes == 0) break;
      std::string piece(bytes, '\0');
      comm.recv(piece.data(), bytes, DataType::uint8, r, kTag, {"trace"});
      attempt([&] { file->add(piece.data(), piece.size()); });
    }
  }
  attempt([&] { file->close(); });
  if (failed.empty() && std::rename(unfinished.c_str(), path_.c_str()) != 0) failed = path_ + ": " + std::strerror(errno);
  if (!failed.empty()) {
    std::remove(unfinished.c_str());
    throw std::runtime_error("HVD_TRACE: " + failed);
  }
}

void Trace::finish(Communicator& comm) {
  flush();
  std::exception_ptr failed;
  try {
    if (rank_ == 0) merge(comm);
    else send_part(comm);
  } catch (...) {
    failed = std::current_exception();
  }
  if (size_ > 1) comm.barrier({"trace"});  // the root has everything
  close(file_);
  file_ = -1;
  std::remove(part_path(path_, rank_).c_str());
  if (failed) std::rethrow_exception(failed);
}

}  // namespace hvd::dist
