// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/pickle.h"

#include <cstring>
#include <map>

#include "tool/compare/safetensors.h"

namespace hvdize::compare {
namespace {

Pickle make(PickleValue::Kind kind) {
  auto v = std::make_shared<PickleValue>();
  v->kind = kind;
  return v;
}

/// The machine that a pickle is a program for (Python's pickletools documents each operation).
class Machine {
 public:
  explicit Machine(const std::string& bytes) : bytes_(bytes) {}

  Pickle run() {
    for (;;) {
      const unsigned char op = byte();
      if (op == '.') return pop();
      if (!constant(op) && !structure(op)) {
        throw CheckpointError("data.pkl: operation " + std::to_string(op) + " at byte " + std::to_string(at_ - 1) + " is not known");
      }
    }
  }

 private:
  unsigned char byte() {
    if (at_ >= bytes_.size()) throw CheckpointError("data.pkl ends too early");
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  uint64_t number(int count) {
    uint64_t n = 0;
    for (int i = 0; i < count; ++i) n |= static_cast<uint64_t>(byte()) << (8 * i);
    return n;
  }
  std::string text(uint64_t length) {
    if (length > bytes_.size() - at_) throw CheckpointError("data.pkl ends too early");
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }
  std::string line() {
    std::string out;
    for (char c; (c = static_cast<char>(byte())) != '\n';) out += c;
    return out;
  }
  void push(Pickle v) { stack_.push_back(std::move(v)); }
  Pickle pop() {
    if (stack_.empty()) throw CheckpointError("data.pkl takes more values than it makes");
    Pickle v = stack_.back();
    stack_.pop_back();
    return v;
  }
  std::vector<Pickle> popToMark() {
    std::vector<Pickle> items;
    for (Pickle v; (v = pop())->kind != PickleValue::Mark;) items.insert(items.begin(), v);
    return items;
  }
  void pushInt(int64_t n, PickleValue::Kind kind = PickleValue::Int) {
    Pickle v = make(kind);
    v->integer = n;
    push(v);
  }
  void pushText(std::string s) {
    Pickle v = make(PickleValue::String);
    v->text = std::move(s);
    push(v);
  }
  void pushTuple(std::vector<Pickle> items) {
    Pickle v = make(PickleValue::Tuple);
    v->items = std::move(items);
    push(v);
  }

  bool constant(unsigned char op) {
    switch (op) {
      case 0x80: byte(); return true;                       // PROTO
      case 'N': push(make(PickleValue::Nothing)); return true;
      case 0x88: pushInt(1, PickleValue::Bool); return true;
      case 0x89: pushInt(0, PickleValue::Bool); return true;
      case 'J': pushInt(static_cast<int32_t>(number(4))); return true;
      case 'K': pushInt(static_cast<int64_t>(number(1))); return true;
      case 'M': pushInt(static_cast<int64_t>(number(2))); return true;
      case 0x8a: {                                          // LONG1
        const int length = byte();
        if (length > 8) throw CheckpointError("data.pkl: a number of " + std::to_string(length) + " bytes");
        int64_t n = static_cast<int64_t>(number(length));
        if (length > 0 && length < 8 && (n >> (8 * length - 1)) & 1) n -= int64_t{1} << (8 * length);
        pushInt(n);
        return true;
      }
      case 'G': {                                           // BINFLOAT, big-endian
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
        Pickle v = make(PickleValue::Float);
        std::memcpy(&v->real, &bits, sizeof bits);
        push(v);
        return true;
      }
      case 'X': pushText(text(number(4))); return true;
      case 0x8c: pushText(text(number(1))); return true;
      case 'c': {
        Pickle v = make(PickleValue::Global);
        v->text = line();
        v->text.append(" ").append(line());
        push(v);
        return true;
      }
      default: return false;
    }
  }

  bool structure(unsigned char op) {
    switch (op) {
      case '(': push(make(PickleValue::Mark)); return true;
      case ')': pushTuple({}); return true;
      case 't': pushTuple(popToMark()); return true;
      case 0x85: pushTuple({pop()}); return true;
      case 0x86: { Pickle b = pop(), a = pop(); pushTuple({a, b}); return true; }
      case 0x87: { Pickle c = pop(), b = pop(), a = pop(); pushTuple({a, b, c}); return true; }
      case ']': push(make(PickleValue::List)); return true;
      case '}': push(make(PickleValue::Dict)); return true;
      case 'a': { Pickle v = pop(); top()->items.push_back(v); return true; }
      case 'e': { auto items = popToMark(); for (Pickle& v : items) top()->items.push_back(v); return true; }
      case 's': { Pickle v = pop(), k = pop(); top()->entries.emplace_back(k, v); return true; }
      case 'u': {
        const auto items = popToMark();
        for (size_t i = 0; i + 1 < items.size(); i += 2) top()->entries.emplace_back(items[i], items[i + 1]);
        return true;
      }
      case 'Q': { Pickle v = make(PickleValue::Persistent); v->items = {pop()}; push(v); return true; }
      case 0x81:
      case 'R': {  // an object of a class, or the result of a function: its name and arguments say all
        Pickle arguments = pop(), callee = pop();
        Pickle v = make(PickleValue::Object);
        v->text = callee->text;
        v->items = arguments->items;
        push(v);
        return true;
      }
      case 'b': { Pickle state = pop(); top()->state = state; return true; }
      case 'q': memo_[number(1)] = top(); return true;
      case 'r': memo_[number(4)] = top(); return true;
      case 'h': push(remembered(number(1))); return true;
      case 'j': push(remembered(number(4))); return true;
      default: return false;
    }
  }
  Pickle& top() {
    if (stack_.empty()) throw CheckpointError("data.pkl takes more values than it makes");
    return stack_.back();
  }
  Pickle remembered(uint64_t i) {
    const auto it = memo_.find(i);
    if (it == memo_.end()) throw CheckpointError("data.pkl refers to value " + std::to_string(i) + ", which it has not made");
    return it->second;
  }

  const std::string& bytes_;
  size_t at_ = 0;
  std::vector<Pickle> stack_;
  std::map<uint64_t, Pickle> memo_;
};

}  // namespace

Pickle readPickle(const std::string& bytes) { return Machine(bytes).run(); }

}  // namespace hvdize::compare
