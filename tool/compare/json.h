// SPDX-License-Identifier: Apache-2.0
//
// As much JSON as the header of a safetensors file needs.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace hvdize::compare {

struct JsonMember;

struct JsonValue {
  enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> array;
  std::vector<JsonMember> object;  ///< in the order of the text

  /// The member of an object, or null.
  const JsonValue* find(const std::string& key) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

inline const JsonValue* JsonValue::find(const std::string& key) const {
  for (const JsonMember& member : object)
    if (member.name == key) return &member.value;
  return nullptr;
}

struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The one value in `text`, which may be followed by spaces only. Throws JsonError with the offset of what is wrong.
JsonValue parseJson(const std::string& text);

}  // namespace hvdize::compare
