// SPDX-License-Identifier: Apache-2.0
#pragma once

// LibTorch's exception types: what the root throws, every rank throws, so that the program's own handlers take it everywhere.

#include <exception>
#include <string>

#include <c10/util/Exception.h>

#include <hvd/dist/from_root.hpp>

namespace hvd::detail {

inline char torch_error_kind(const std::exception& error) {
  if (dynamic_cast<const c10::IndexError*>(&error)) return 'i';
  if (dynamic_cast<const c10::ValueError*>(&error)) return 'v';
  if (dynamic_cast<const c10::TypeError*>(&error)) return 't';
  if (dynamic_cast<const c10::NotImplementedError*>(&error)) return 'n';
  return dynamic_cast<const c10::Error*>(&error) ? 'e' : '\0';
}

inline void raise_torch_error(char kind, const std::string& text) {
  // No backtrace, whose type differs between releases: it is in the text.
  switch (kind) {
    case 'i': throw c10::IndexError(text, {});
    case 'v': throw c10::ValueError(text, {});
    case 't': throw c10::TypeError(text, {});
    case 'n': throw c10::NotImplementedError(text, {});
    default: throw c10::Error(text, {});
  }
}

template <class F>
ErrorKinds framework_errors(const F*, WithFramework) {
  return {torch_error_kind, raise_torch_error};
}

}  // namespace hvd::detail
