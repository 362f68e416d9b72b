// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages about errors come from the rank that has the error. What all ranks find wrong is said once, by the root. All of it is local.

#include <cstdio>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>

#include <hvd/dist/session.hpp>

namespace hvd {

namespace detail {

/// What is to be shown of an error message of this rank: the text itself on the root, with "rank 2: " before each of its lines
/// elsewhere, nothing when another rank shows the same.
std::string error_text(const std::string& text);

/// The stream `to`, of which one statement's output is shown as a whole when the statement ends. Standard output is the root's: other ranks
/// write to standard error instead, so that what the program prints there is the same in every run.
class ErrorStream final : public std::ostream {
 public:
  explicit ErrorStream(std::ostream& to);
  ~ErrorStream() override;

 private:
  std::ostream& to_;
  std::stringbuf text_;
};

/// While it lives, what is written to a FILE* goes to memory: to the one among the arguments of a call, or else to stdout and stderr
/// (glibc's are variables). Afterwards it is shown there; what other ranks than the root have for stdout, on stderr.
class ErrorFile {
 public:
  explicit ErrorFile(bool standard_streams);
  ~ErrorFile();
  ErrorFile(const ErrorFile&) = delete;
  ErrorFile& operator=(const ErrorFile&) = delete;

  template <class T>
  T redirected(T argument) {
    if constexpr (std::is_same_v<T, std::FILE*>) {
      target_ = argument;
      return memory_;
    } else {
      return argument;
    }
  }

 private:
  char *text_ = nullptr, *errors_ = nullptr;
  std::size_t length_ = 0, length_of_errors_ = 0;
  std::FILE *memory_, *memory_of_errors_ = nullptr;
  std::FILE* target_ = nullptr;
  std::FILE *out_ = nullptr, *err_ = nullptr;
};

template <class F>
struct ErrorCall {
  F function;

  template <class... Args>
  auto operator()(Args... args) const {
    if (size() == 1) return function(args...);
    ErrorFile file(!(std::is_same_v<Args, std::FILE*> || ...));
    return function(file.redirected(args)...);
  }
};

}  // namespace detail

/// `error_stream(std::cerr) << "no data in " << path << '\n'`.
inline detail::ErrorStream error_stream(std::ostream& stream) { return detail::ErrorStream(stream); }

/// `error_call(std::fprintf)(stderr, "no data in %s\n", path)`: a function of <cstdio> that writes.
template <class F>
detail::ErrorCall<F> error_call(F function) {
  return {function};
}

}  // namespace hvd
