// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work of the root alone whose result all ranks need.

#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/session.hpp>

namespace hvd {

namespace detail {

template <class T>
void pack(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "hvd::from_root sends numbers, bools, strings and vectors of those");
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void pack(std::string& out, const std::string& text) {
  pack(out, text.size());
  out += text;
}
template <class T>
void pack(std::string& out, const std::vector<T>& values) {
  pack(out, values.size());
  for (const auto& value : values) pack(out, static_cast<const T&>(value));
}

template <class T>
void unpack(const char*& in, T& value) {
  for (std::size_t i = 0; i < sizeof value; ++i) reinterpret_cast<char*>(&value)[i] = *in++;
}
inline void unpack(const char*& in, std::string& text) {
  std::size_t length = 0;
  unpack(in, length);
  text.assign(in, length);
  in += length;
}
template <class T>
void unpack(const char*& in, std::vector<T>& values) {
  std::size_t count = 0;
  unpack(in, count);
  values.clear();
  for (std::size_t i = 0; i < count; ++i) {
    T value{};
    unpack(in, value);
    values.push_back(std::move(value));
  }
}

/// The exception types of a framework, for the ranks that throw what the root threw.
struct ErrorKinds {
  char (*kind)(const std::exception& error) = nullptr;          ///< 0: none of the framework's
  void (*raise)(char kind, const std::string& text) = nullptr;  ///< throws one of that kind
};
struct WithoutFramework {};
struct WithFramework : WithoutFramework {};
/// A binding declares one for `WithFramework`, which is then the better match wherever its header is included.
template <class F>
ErrorKinds framework_errors(const F*, WithoutFramework) {
  return {};
}

/// The root's bytes, or its exception, to all ranks: rethrows `error` on the root and its like on the others.
void share_root_result(std::string& bytes, std::exception_ptr error, CallSite site, ErrorKinds framework);

/// The exception that is being handled is an error of the job, where it is one of the framework's: others may be without it.
void note_caught(ErrorKinds framework) noexcept;

}  // namespace detail

/// First in a handler of errors of a training step, which the program goes on behind. What the framework throws (a label out of range) one rank may
/// have alone, while the others wait for it in the step: its next collective then ends the job with these words. Nothing on one rank, for
/// exceptions of the program's own, and for those that all ranks have from the root or from the job itself. Local.
template <class F = int>
void caught_in_step() noexcept {
  if (size() > 1) detail::note_caught(framework_errors(static_cast<const F*>(nullptr), detail::WithFramework{}));
}

/// Calls `f` on the root only. Its result (number, bool, string, vector of those, or void) is returned on all ranks; its
/// exception is thrown on all ranks: the same type where it is a standard one or the framework's, else std::runtime_error, with the same text.
template <class F>
auto from_root(F&& f, CallSite site = CallSite::here()) -> std::decay_t<std::invoke_result_t<F>> {
  using Result = std::decay_t<std::invoke_result_t<F>>;
  if constexpr (std::is_void_v<Result>)
    if (size() == 1 && !is_root()) return;  // behind the end of the session
  if (size() == 1) return std::forward<F>(f)();
  std::string bytes;
  std::exception_ptr error;
  if (is_root()) {
    LongWork declared("from_root");
    try {
      if constexpr (std::is_void_v<Result>) std::forward<F>(f)();
      else detail::pack(bytes, static_cast<const Result&>(std::forward<F>(f)()));
    } catch (...) {
      error = std::current_exception();
    }
  }
  detail::share_root_result(bytes, error, site, framework_errors(static_cast<const std::decay_t<F>*>(nullptr), detail::WithFramework{}));
  if constexpr (!std::is_void_v<Result>) {
    Result result{};
    const char* in = bytes.data();
    detail::unpack(in, result);
    return result;
  }
}

}  // namespace hvd
