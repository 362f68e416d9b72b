// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <hvd/core/error.hpp>

#include <charconv>
#include <cstdio>

namespace hvd::io {

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = parse(0);
    skip_space();
    if (at_ != text_.size()) fail("text after the value");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error("JSON, at byte " + std::to_string(at_) + ": " + what); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  char peek() {
    skip_space();
    if (at_ == text_.size()) fail("the text ends early");
    return text_[at_];
  }
  void expect(char c) {
    if (peek() != c) fail(std::string("'") + c + "' expected");
    ++at_;
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Json parse(int depth) {
    if (depth > 64) fail("nested too deeply");
    switch (peek()) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return string();
      case 't': return word("true", Json::Kind::boolean, true);
      case 'f': return word("false", Json::Kind::boolean, false);
      case 'n': return word("null", Json::Kind::null, false);
      default: return number();
    }
  }

  Json word(std::string_view name, Json::Kind kind, bool truth) {
    if (text_.substr(at_, name.size()) != name) fail("a value expected");
    at_ += name.size();
    Json value;
    value.kind = kind;
    value.truth = truth;
    return value;
  }

  Json object(int depth) {
    Json value;
    value.kind = Json::Kind::object;
    expect('{');
    if (accept('}')) return value;
    do {
      if (peek() != '"') fail("a name in quotes expected");
      std::string name = string().text;
      if (value.find(name)) fail("the name '" + name + "' occurs twice");
      expect(':');
      value.members.emplace_back(std::move(name), parse(depth + 1));
    } while (accept(','));
    expect('}');
    return value;
  }

  Json array(int depth) {
    Json value;
    value.kind = Json::Kind::array;
    expect('[');
    if (accept(']')) return value;
    do value.items.push_back(parse(depth + 1));
    while (accept(','));
    expect(']');
    return value;
  }

  Json number() {
    const auto digits = [&] {
      const size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      if (at_ == first) fail("a value expected");
    };
    const auto next_is = [&](std::string_view set) { return at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos; };
    const size_t first = at_;
    if (next_is("-")) ++at_;
    digits();
    if (next_is(".")) ++at_, digits();
    if (next_is("eE")) {
      ++at_;
      if (next_is("+-")) ++at_;
      digits();
    }
    Json value;
    value.kind = Json::Kind::number;
    value.text = std::string(text_.substr(first, at_ - first));
    return value;
  }

  Json string() {
    Json value;
    value.kind = Json::Kind::string;
    expect('"');
    while (true) {
      if (at_ == text_.size()) fail("a string without end");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
      ++at_;
      if (c == '"') return value;
      if (c == '\\')
        escape(value.text);
      else
        value.text += c;
    }
  }

  void escape(std::string& out) {
    if (at_ == text_.size()) fail("a string without end");
    const char c = text_[at_++];
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (const size_t i = names.find(c); i != std::string_view::npos) {
      out += values[i];
    } else if (c == 'u') {
      append_utf8(out, code_point());
    } else {
      fail("an unknown escape in a string");
    }
  }

  uint32_t hex4() {
    uint32_t value = 0;
    const char* first = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, value, 16).ptr != first + 4) fail("four hexadecimal digits expected");
    at_ += 4;
    return value;
  }

  uint32_t code_point() {
    const uint32_t high = hex4();
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || text_.substr(at_, 2) != "\\u") fail("half a surrogate pair in a string");
    at_ += 2;
    const uint32_t low = hex4();
    if (low < 0xdc00 || low > 0xdfff) fail("half a surrogate pair in a string");
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }

  static void append_utf8(std::string& out, uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12));
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xf0 | (code >> 18));
      tail(12), tail(6), tail(0);
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

bool Json::to_unsigned(uint64_t& out) const {
  if (kind != Kind::number) return false;
  const char* end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && ptr == end && out <= static_cast<uint64_t>(INT64_MAX);
}

Json parse_json(std::string_view text) { return Parser(text).document(); }

std::string to_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace hvd::io
