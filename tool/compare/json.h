// SPDX-License-Identifier: Apache-2.0
//
// As much JSON as the header of a safetensors file needs.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hvdize::compare {

struct JsonValue {
  enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> array;
  std::vector<std::pair<std::string, JsonValue>> object;  ///< in the order of the text

  /// The member of an object, or null.
  const JsonValue* find(const std::string& key) const {
    for (const auto& [name, value] : object)
      if (name == key) return &value;
    return nullptr;
  }
};

struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The one value in `text`, which may be followed by spaces only. Throws JsonError with the offset of what is wrong.
JsonValue parseJson(const std::string& text);

}  // namespace hvdize::compare
