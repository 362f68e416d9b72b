// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/torch_archive.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tool/compare/pickle.h"

namespace hvdize::compare {
namespace {

uint64_t littleEndian(const std::string& bytes, size_t at, int count) {
  if (at + static_cast<size_t>(count) > bytes.size()) throw CheckpointError("the archive is cut off");
  uint64_t n = 0;
  for (int i = 0; i < count; ++i) n |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)])) << (8 * i);
  return n;
}

/// The stored entries of a zip file by their names, without the folder all of them lie in.
std::map<std::string, std::string> entriesOf(const std::string& zip) {
  const size_t end = zip.rfind("PK\x05\x06");
  if (end == std::string::npos) throw CheckpointError("the archive has no directory: it is cut off");
  std::map<std::string, std::string> entries;
  const uint64_t count = littleEndian(zip, end + 10, 2);
  size_t at = littleEndian(zip, end + 16, 4);
  for (uint64_t i = 0; i < count; ++i) {
    if (littleEndian(zip, at, 4) != 0x02014b50) throw CheckpointError("the archive's directory is damaged");
    const uint64_t method = littleEndian(zip, at + 10, 2), size = littleEndian(zip, at + 24, 4), local = littleEndian(zip, at + 42, 4);
    const uint64_t nameLength = littleEndian(zip, at + 28, 2);
    std::string name = zip.substr(at + 46, nameLength);
    at += 46 + nameLength + littleEndian(zip, at + 30, 2) + littleEndian(zip, at + 32, 2);
    if (method != 0) continue;  // source code of the module's class: of no interest
    if (size == 0xFFFFFFFF || local == 0xFFFFFFFF) throw CheckpointError(name + ": archives of more than 4 GB cannot be compared");
    const size_t data = local + 30 + littleEndian(zip, local + 26, 2) + littleEndian(zip, local + 28, 2);
    if (data + size > zip.size()) throw CheckpointError(name + ": the archive is cut off");
    if (const size_t slash = name.find('/'); slash != std::string::npos) name = name.substr(slash + 1);
    entries[name] = zip.substr(data, size);
  }
  return entries;
}

std::string dtypeOf(const std::string& storage) {
  static const std::map<std::string, std::string> types = {
      {"torch DoubleStorage", "F64"}, {"torch FloatStorage", "F32"}, {"torch HalfStorage", "F16"}, {"torch BFloat16Storage", "BF16"},
      {"torch LongStorage", "I64"},   {"torch IntStorage", "I32"},   {"torch ShortStorage", "I16"}, {"torch CharStorage", "I8"},
      {"torch ByteStorage", "U8"},    {"torch BoolStorage", "BOOL"}};
  const auto it = types.find(storage);
  if (it == types.end()) throw CheckpointError("a tensor of the unknown type '" + storage + "'");
  return it->second;
}

/// Addresses, as an optimizer's archive uses them for names: "0x5561..." or decimal.
bool isAddress(const std::string& s) {
  if (s.size() >= 8 && s.compare(0, 2, "0x") == 0) return s.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
  return s.size() >= 10 && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Walker {
 public:
  Walker(const std::map<std::string, std::string>& entries, Checkpoint& out) : entries_(entries), out_(out) {}

  /// Numbers the addresses that stand as values, in order: the lists of parameters.
  void number(const Pickle& v) {
    if (v->kind == PickleValue::String && isAddress(v->text)) {
      addresses_.emplace(v->text, std::string("#").append(std::to_string(addresses_.size())));
      out_.bytesVary = true;
    }
    for (const Pickle& item : v->items) number(item);
    for (const auto& [key, value] : v->entries) number(value);
    if (v->state) number(v->state);
  }

  void walk(const Pickle& v, const std::string& path) {
    if (v->kind == PickleValue::Object && v->text.rfind("torch._utils _rebuild_tensor", 0) == 0) return tensor(v, path);
    if (v->state) return walk(v->state, path);
    const auto below = [&](const std::string& name) { return path.empty() ? name : std::string(path).append(".").append(name); };
    switch (v->kind) {
      case PickleValue::Tuple:
      case PickleValue::List:
      case PickleValue::Object:
        for (size_t i = 0; i < v->items.size(); ++i) walk(v->items[i], below(std::to_string(i)));
        return;
      case PickleValue::Dict:
        for (const auto& [key, value] : v->entries) walk(value, below(nameOf(key)));
        return;
      case PickleValue::Bool:
      case PickleValue::Int: out_.metadata[path] = std::to_string(v->integer); return;
      case PickleValue::Float: {
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", v->real);
        out_.metadata[path] = text;
        return;
      }
      case PickleValue::String: out_.metadata[path] = renamed(v->text); return;
      default: return;
    }
  }

 private:
  std::string renamed(const std::string& s) const {
    const auto it = addresses_.find(s);
    return it == addresses_.end() ? s : it->second;
  }
  std::string nameOf(const Pickle& key) const {
    return key->kind == PickleValue::Int ? std::to_string(key->integer) : renamed(key->text);
  }

  // _rebuild_tensor_v2(storage, offset, sizes, strides, ...); the storage is ("storage", type, key, device, elements).
  void tensor(const Pickle& v, const std::string& path) {
    const auto bad = [&](const std::string& what) { return CheckpointError("tensor '" + path + "': " + what); };
    if (v->items.size() < 4 || v->items[0]->kind != PickleValue::Persistent || v->items[0]->items[0]->items.size() < 5) throw bad("no storage");
    const auto& storage = v->items[0]->items[0]->items;
    TensorEntry entry;
    entry.dtype = dtypeOf(storage[1]->text);
    const auto data = entries_.find("data/" + storage[2]->text);
    if (data == entries_.end()) throw bad("its storage '" + storage[2]->text + "' is missing");
    int64_t elements = 1;
    for (size_t i = v->items[2]->items.size(); i-- > 0;) {
      const int64_t extent = v->items[2]->items[i]->integer, stride = v->items[3]->items[i]->integer;
      if (extent > 1 && stride != elements) throw bad("it is not contiguous");
      entry.shape.insert(entry.shape.begin(), extent);
      elements *= extent;
    }
    const size_t width = bytesOf(entry.dtype), bytes = static_cast<size_t>(elements) * width;
    const size_t first = static_cast<size_t>(v->items[1]->integer) * width;
    if (first + bytes > data->second.size()) throw bad("its storage is too short");
    entry.begin = out_.data.size();
    out_.data += data->second.substr(first, bytes);
    entry.end = out_.data.size();
    out_.tensors[path] = entry;
  }

  const std::map<std::string, std::string>& entries_;
  Checkpoint& out_;
  std::map<std::string, std::string> addresses_;
};

}  // namespace

bool looksLikeTorchArchive(const std::string& content) {
  return content.size() > 30 && content.compare(0, 4, "PK\x03\x04") == 0 && content.find("/data.pkl") != std::string::npos;
}

Checkpoint parseTorchArchive(const std::string& content) {
  const auto entries = entriesOf(content);
  const auto pickle = entries.find("data.pkl");
  if (pickle == entries.end()) throw CheckpointError("the archive has no data.pkl");
  const Pickle root = readPickle(pickle->second);
  Checkpoint checkpoint;
  Walker walker(entries, checkpoint);
  walker.number(root);
  walker.walk(root, "");
  return checkpoint;
}

}  // namespace hvdize::compare
