// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/input.hpp>

#include <exception>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>

#include <hvd/dist/from_root.hpp>

#include "rank.hpp"

namespace hvd {

namespace {

// The root's next line, its end included; empty at the end of the input. Past the stream's state, which would differ between ranks.
std::string next_line(std::istream& source) {
  if (source.tie()) source.tie()->flush();  // a prompt, as a read from the stream itself would do
  std::string line;
  for (std::streambuf* buffer = source.rdbuf(); buffer;) {
    const int c = buffer->sbumpc();
    if (c == std::streambuf::traits_type::eof()) break;
    line += static_cast<char>(c);
    if (c == '\n') break;
  }
  return line;
}

class SharedLines final : public std::streambuf {
 public:
  explicit SharedLines(std::istream& source) : source_(source) {}
  void called_at(CallSite site) { site_ = site; }

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    try {
      line_ = from_root([&] { return next_line(source_); }, site_);
    } catch (...) {
      // A stream would swallow the exception, and the rank would go on without its input.
      if (dist::has_thread_rank()) throw;
      std::terminate();
    }
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return line_.empty() ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

 private:
  std::istream& source_;
  CallSite site_;
  std::string line_;
};

struct SharedInput {
  explicit SharedInput(std::istream& source) : lines(source), stream(&lines) {
    stream.copyfmt(source);
    stream.tie(source.tie());
  }
  SharedLines lines;
  std::istream stream;
};

}  // namespace

std::istream& root_input(std::istream& stream, CallSite site) {
  if (size() == 1) return stream;
  thread_local std::map<std::istream*, std::unique_ptr<SharedInput>> inputs;
  auto& input = inputs[&stream];
  if (!input) input = std::make_unique<SharedInput>(stream);
  input->lines.called_at(site);
  return input->stream;
}

}  // namespace hvd
