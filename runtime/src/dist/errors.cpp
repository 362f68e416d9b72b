// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/errors.hpp>

#include <cstdlib>
#include <utility>

#include "rank.hpp"

namespace hvd::detail {

std::string error_text(const std::string& text) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || !rank->board || text.empty()) return text;
  if (!dist::claim_message(rank->board->data(), rank->rank(), text)) return {};
  if (rank->rank() == 0) return text;
  const std::string mark = "rank " + std::to_string(rank->rank()) + ": ";
  std::string marked;
  bool begins = true;
  for (const char c : text) {
    if (begins) marked += mark;
    marked += c;
    begins = c == '\n';
  }
  return marked;
}

ErrorStream::ErrorStream(std::ostream& to) : std::ostream(nullptr), to_(to) {
  init(size() == 1 ? to.rdbuf() : &text_);
  copyfmt(to);
}

// What the statement set (a precision, say) stays set.
ErrorStream::~ErrorStream() {
  to_.copyfmt(*this);
  if (size() > 1) {
    const std::string text = error_text(text_.str());
    to_.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  }
}

ErrorFile::ErrorFile(bool standard_streams) : memory_(open_memstream(&text_, &length_)) {
  if (!standard_streams) return;
  target_ = stderr;
  out_ = std::exchange(stdout, memory_);
  err_ = std::exchange(stderr, memory_);
}

ErrorFile::~ErrorFile() {
  if (out_) {
    stdout = out_;
    stderr = err_;
  }
  std::fclose(memory_);
  const std::string text = error_text(std::string(text_, length_));
  if (target_) std::fwrite(text.data(), 1, text.size(), target_);
  std::free(text_);
}

}  // namespace hvd::detail
