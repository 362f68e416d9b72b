// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hvd::data {

/// The words that byte pairs do not cross, in order; together they are the text.
std::vector<std::string_view> split_words(std::string_view text);

/// A byte as the character that GPT-2's files write for it, and back (-1: no such character).
std::string byte_as_character(unsigned char byte);
/// The bytes that a token of GPT-2's files stands for; false when it has a character that stands for none.
bool characters_as_bytes(std::string_view token, std::string& bytes);

}  // namespace hvd::data
