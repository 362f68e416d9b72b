// SPDX-License-Identifier: Apache-2.0
#pragma once

// Outputs appear once. All of it is local.

#include <cstdio>
#include <iosfwd>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hvd/dist/session.hpp>

namespace hvd {

/// The stream on the root; elsewhere one that discards, so that operands are still evaluated.
std::ostream& root_stream(std::ostream& stream);
/// The same for a stream of <cstdio>: elsewhere one on /dev/null that stays open.
std::FILE* root_stream(std::FILE* stream);

namespace detail {

template <class F>
struct RootOnly {
  F function;
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Result = decltype(function(std::forward<Args>(args)...));
    if constexpr (std::is_void_v<Result>) {
      if (is_root()) function(std::forward<Args>(args)...);
    } else {
      return is_root() ? function(std::forward<Args>(args)...) : std::decay_t<Result>{};
    }
  }
};

}  // namespace detail

/// `root_only(std::printf)(...)`: the arguments are evaluated on every rank, the call happens on the root. Elsewhere the result is
/// a value-initialised one.
template <class F>
detail::RootOnly<F> root_only(F function) {
  return {std::move(function)};
}

/// The path on the root, /dev/null elsewhere; keeps the type (std::string, const char*, std::filesystem::path).
template <class Path>
Path root_path(Path path) {
  return is_root() ? std::move(path) : Path("/dev/null");
}

/// For a mode of fopen: a file that is only read is read by every rank, any other is the root's.
template <class Path, class Mode>
Path root_path(Path path, const Mode& mode) {
  const std::string_view says(mode);
  const bool reads = says.substr(0, 1) == "r" && says.find('+') == std::string_view::npos;
  return reads ? std::move(path) : root_path(std::move(path));
}

/// The command on the root; elsewhere one that takes what is written to it and forgets it. For `popen(command, "w")`; keeps the type.
template <class Command>
Command root_command(Command command) {
  return is_root() ? std::move(command) : Command("exec cat > /dev/null");
}

}  // namespace hvd
