// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/errors.hpp>

#include <cstdlib>
#include <iostream>
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

namespace {

// Standard output is the root's: what it holds must not depend on which rank is first.
bool keepsFromOutput() {
  const dist::Rank* rank = dist::this_rank();
  return rank && rank->rank() != 0;
}

void show(std::FILE* target, char* text, std::size_t length) {
  const std::string shown = error_text(std::string(text, length));
  std::fwrite(shown.data(), 1, shown.size(), target == stdout && keepsFromOutput() ? stderr : target);
  std::free(text);
}

}  // namespace

ErrorStream::ErrorStream(std::ostream& to) : std::ostream(nullptr), to_(to) {
  init(size() == 1 ? to.rdbuf() : &text_);
  copyfmt(to);
}

// What the statement set (a precision, say) stays set.
ErrorStream::~ErrorStream() {
  to_.copyfmt(*this);
  if (size() > 1) {
    const std::string text = error_text(text_.str());
    std::ostream& to = &to_ == &std::cout && keepsFromOutput() ? std::cerr : to_;
    to.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  }
}

ErrorFile::ErrorFile(bool standard_streams) : memory_(open_memstream(&text_, &length_)) {
  if (!standard_streams) return;
  memory_of_errors_ = open_memstream(&errors_, &length_of_errors_);
  target_ = stdout;
  out_ = std::exchange(stdout, memory_);
  err_ = std::exchange(stderr, memory_of_errors_);
}

ErrorFile::~ErrorFile() {
  if (out_) {
    stdout = out_;
    stderr = err_;
    std::fclose(memory_of_errors_);
    show(stderr, errors_, length_of_errors_);
  }
  std::fclose(memory_);
  if (target_) show(target_, text_, length_);
  else std::free(text_);
}

}  // namespace hvd::detail
