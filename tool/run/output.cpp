// SPDX-License-Identifier: Apache-2.0
#include "tool/run/output.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hvdize::run {

namespace {
constexpr auto Pause = std::chrono::milliseconds(200);
constexpr size_t LongestLine = 1 << 20;
}  // namespace

LineForwarder::LineForwarder(int source, int target, std::string prefix)
    : source_(source), target_(target), prefix_(std::move(prefix)) {}

LineForwarder::~LineForwarder() {
  if (source_ >= 0) close(source_);
}

LineForwarder::LineForwarder(LineForwarder&& other) noexcept
    : source_(std::exchange(other.source_, -1)), target_(other.target_), prefix_(std::move(other.prefix_)),
      line_(std::move(other.line_)), lineBegun_(other.lineBegun_), lastRead_(other.lastRead_) {}

void LineForwarder::write(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(target_, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // nobody reads any more; the ranks go on
    data += n;
    size -= static_cast<size_t>(n);
  }
}

// The first `size` bytes of what has been read: whole lines, or all of it.
void LineForwarder::passOn(size_t size) {
  if (prefix_.empty()) {
    write(line_.data(), size);
  } else {
    std::string text;
    for (size_t i = 0; i < size; ++i) {
      if (!lineBegun_) text += prefix_;
      text += line_[i];
      lineBegun_ = line_[i] != '\n';
    }
    write(text.data(), text.size());
  }
  line_.erase(0, size);
}

void LineForwarder::read() {
  char buffer[65536];
  const ssize_t n = ::read(source_, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {  // the end; a terminal says EIO
    finish();
    close(std::exchange(source_, -1));
    return;
  }
  lastRead_ = Clock::now();
  line_.append(buffer, static_cast<size_t>(n));
  const size_t end = line_.rfind('\n');
  if (end != std::string::npos) passOn(end + 1);
  if (line_.size() > LongestLine) passOn(line_.size());
}

void LineForwarder::tick(Clock::time_point now) {
  if (pending() && now - lastRead_ >= Pause) passOn(line_.size());
}

void LineForwarder::finish() {
  if (pending()) passOn(line_.size());
}

}  // namespace hvdize::run
