// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hvd::io {

/// A JSON value (RFC 8259), as far as headers of files need it.
struct Json {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;                                   // of a string, unescaped UTF-8; of a number, as written
  std::vector<Json> items;                            // of an array
  std::vector<std::pair<std::string, Json>> members;  // of an object, in order; names are unique
  bool truth = false;                                 // of a boolean

  // Where the type of the members is complete.
  Json();
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  /// The member of that name, or null.
  const Json* find(std::string_view name) const;
  /// The value of a number that is an integer from 0 to 2^63 - 1; false for anything else.
  bool to_unsigned(uint64_t& out) const;
};

/// The one value that `text` holds. Throws hvd::Error, with the offset of the fault, for anything that is not JSON, names that
/// occur twice, and nesting deeper than 64.
Json parse_json(std::string_view text);

/// A string as JSON, in quotes.
std::string to_json(std::string_view text);

}  // namespace hvd::io
