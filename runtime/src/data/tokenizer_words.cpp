// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer_words.hpp"

#include <array>
#include <unordered_map>

namespace hvd::data {

namespace {

bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80; }
bool is_other(unsigned char c) { return !is_space(c) && !is_digit(c) && !is_letter(c); }

/// 's, 't, 're, 've, 'm, 'll, 'd: the length of such an ending at the start of `text`, or 0.
size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(0, ending.size()) == ending) return ending.size();
  return 0;
}

template <class Kind>
size_t run(std::string_view text, size_t from, Kind kind) {
  while (from < text.size() && kind(static_cast<unsigned char>(text[from]))) ++from;
  return from;
}

/// The length of the first word. White space before a word goes apart from it, but for one last blank.
size_t first_word(std::string_view text) {
  if (const size_t ending = contraction(text)) return ending;
  const size_t start = text[0] == ' ' && text.size() > 1 && !is_space(static_cast<unsigned char>(text[1])) ? 1 : 0;
  const auto next = static_cast<unsigned char>(text[start]);
  if (is_letter(next)) return run(text, start, is_letter);
  if (is_digit(next)) return run(text, start, is_digit);
  if (is_other(next)) return run(text, start, is_other);
  const size_t spaces = run(text, 0, is_space);
  return spaces < text.size() && spaces > 1 ? spaces - 1 : spaces;
}

std::string utf8(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

/// Printable characters of Latin-1 stand for themselves, the other bytes for the characters from 256 on.
std::array<std::string, 256> make_characters() {
  std::array<std::string, 256> out;
  unsigned next = 256;
  for (unsigned b = 0; b < 256; ++b) {
    const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    out[b] = utf8(printable ? b : next++);
  }
  return out;
}

const std::array<std::string, 256>& characters() {
  static const std::array<std::string, 256> all = make_characters();
  return all;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t length = first_word(text);
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

std::string byte_as_character(unsigned char byte) { return characters()[byte]; }

bool characters_as_bytes(std::string_view token, std::string& bytes) {
  static const std::unordered_map<std::string, char> known = [] {
    std::unordered_map<std::string, char> out;
    for (unsigned b = 0; b < 256; ++b) out.emplace(characters()[b], static_cast<char>(b));
    return out;
  }();
  bytes.clear();
  while (!token.empty()) {
    const size_t length = static_cast<unsigned char>(token[0]) < 0x80 ? 1 : 2;
    const auto found = known.find(std::string(token.substr(0, length)));
    if (found == known.end()) return false;
    bytes += found->second;
    token.remove_prefix(length);
  }
  return true;
}

}  // namespace hvd::data
