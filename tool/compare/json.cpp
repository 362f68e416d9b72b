// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/json.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>

namespace hvdize::compare {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  JsonValue document() {
    JsonValue value = parseValue(0);
    skipSpaces();
    if (at_ != text_.size()) fail("the end was expected");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw JsonError("JSON, byte " + std::to_string(at_) + ": " + what); }

  void skipSpaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  char peek() {
    skipSpaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' was expected");
  }

  bool takeWord(const char* word) {
    const std::string w(word);
    if (text_.compare(at_, w.size(), w) != 0) return false;
    at_ += w.size();
    return true;
  }

  JsonValue parseValue(int depth) {
    if (depth > 64) fail("nested too deeply");
    JsonValue value;
    switch (peek()) {
      case '{': parseObject(value, depth); return value;
      case '[': parseArray(value, depth); return value;
      case '"':
        value.kind = JsonValue::String;
        value.string = parseString();
        return value;
      default: parseScalar(value); return value;
    }
  }

  void parseObject(JsonValue& value, int depth) {
    value.kind = JsonValue::Object;
    expect('{');
    if (take('}')) return;
    do {
      if (peek() != '"') fail("a name was expected");
      std::string name = parseString();
      expect(':');
      value.object.push_back({std::move(name), parseValue(depth + 1)});
    } while (take(','));
    expect('}');
  }

  void parseArray(JsonValue& value, int depth) {
    value.kind = JsonValue::Array;
    expect('[');
    if (take(']')) return;
    do value.array.push_back(parseValue(depth + 1));
    while (take(','));
    expect(']');
  }

  void parseScalar(JsonValue& value) {
    if (text_.compare(at_, 4, "true") == 0 || text_.compare(at_, 5, "false") == 0) {
      value.kind = JsonValue::Bool;
      value.boolean = takeWord("true") || !takeWord("false");
      return;
    }
    if (takeWord("null")) return;
    char* end = nullptr;
    value.kind = JsonValue::Number;
    value.number = std::strtod(text_.c_str() + at_, &end);
    if (end == text_.c_str() + at_) fail("a value was expected");
    at_ = static_cast<size_t>(end - text_.c_str());
  }

  uint32_t hexadecimal() {
    if (at_ + 4 > text_.size()) fail("the text ends inside an escape");
    const std::string digits = text_.substr(at_, 4);
    char* end = nullptr;
    const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
    if (*end != '\0') fail("four hexadecimal digits were expected");
    at_ += 4;
    return static_cast<uint32_t>(code);
  }

  static void appendUtf8(std::string& out, uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }

  void unicodeEscape(std::string& out) {
    uint32_t code = hexadecimal();
    // A character beyond 16 bits comes as two surrogates.
    if (code >= 0xD800 && code < 0xDC00 && takeWord("\\u")) code = 0x10000 + ((code - 0xD800) << 10) + (hexadecimal() - 0xDC00);
    appendUtf8(out, code);
  }

  void escape(std::string& out) {
    if (at_ == text_.size()) fail("the text ends inside a string");
    const char c = text_[at_++];
    switch (c) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': unicodeEscape(out); break;
      case '"':
      case '\\':
      case '/': out += c; break;
      default: fail("unknown escape");
    }
  }

  std::string parseString() {
    expect('"');
    std::string out;
    while (true) {
      if (at_ == text_.size()) fail("the text ends inside a string");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c == '\\') escape(out);
      else out += c;
    }
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

JsonValue parseJson(const std::string& text) { return Parser(text).document(); }

}  // namespace hvdize::compare
