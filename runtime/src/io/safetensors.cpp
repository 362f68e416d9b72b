// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include "json.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hvd::io {

static_assert(std::endian::native == std::endian::little, "tensor data is written as it lies in memory, and the format is little-endian");

namespace {

constexpr uint64_t kLongestHeader = 100'000'000;  // the limit of the reference implementation

struct DtypeName {
  Dtype dtype;
  const char* name;
};
constexpr DtypeName kDtypes[] = {{kFloat32, "F32"}, {kFloat64, "F64"}, {kInt64, "I64"}, {kBool, "BOOL"}, {kBFloat16, "BF16"}, {kFloat16, "F16"}};

const char* format_name(Dtype dtype) {
  return std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const DtypeName& d) { return d.dtype == dtype; })->name;
}

bool unsigned_list(const Json* value, std::vector<int64_t>& out) {
  if (!value || value->kind != Json::Kind::array) return false;
  for (const Json& item : value->items) {
    uint64_t number = 0;
    if (!item.to_unsigned(number)) return false;
    out.push_back(static_cast<int64_t>(number));
  }
  return true;
}

// Bytes of a tensor; false where that is more than a file can hold.
bool byte_count(const std::vector<int64_t>& shape, Dtype dtype, uint64_t& bytes) {
  bytes = dtype_size(dtype);
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return false;
  return true;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) { read_header(); }

void SafetensorsFile::fail(const std::string& why) const { throw Error("'" + file_.path() + "' is not a valid safetensors file: " + why); }

void SafetensorsFile::read_header() {
  if (file_.size() < 8) fail("it is truncated, it holds " + std::to_string(file_.size()) + " bytes and no header");
  uint64_t length = 0;
  file_.read(0, &length, 8);
  if (length > kLongestHeader) fail("its header would be " + std::to_string(length) + " bytes long");
  if (length > file_.size() - 8)
    fail("it is truncated, its header has " + std::to_string(length) + " bytes, the file " + std::to_string(file_.size()));
  std::string text(length, '\0');
  file_.read(8, text.data(), length);
  Json header;
  try {
    header = parse_json(text);
  } catch (const Error& error) {
    fail(std::string("its header is not JSON (") + error.what() + ")");
  }
  if (header.kind != Json::Kind::object) fail("its header is not a JSON object");

  for (const auto& [name, value] : header.members) {
    if (name != "__metadata__") {
      tensors_.emplace(name, read_entry(name, value, 8 + length));
      continue;
    }
    for (const auto& [key, text_value] : value.members) {
      if (text_value.kind != Json::Kind::string) fail("its metadata '" + key + "' is not a string");
      metadata_.emplace(key, text_value.text);
    }
  }
  check_layout(8 + length);
}

TensorEntry SafetensorsFile::read_entry(const std::string& name, const Json& value, uint64_t data_start) const {
  const std::string what = "tensor '" + name + "' ";
  TensorEntry entry{};
  const Json* dtype = value.find("dtype");
  if (!dtype || dtype->kind != Json::Kind::string) fail(what + "has no dtype");
  const auto known = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const DtypeName& d) { return d.name == dtype->text; });
  if (known == std::end(kDtypes)) fail(what + "has dtype " + dtype->text + "; F32, F64, BF16, F16, I64 and BOOL can be read");
  entry.dtype = known->dtype;
  if (!unsigned_list(value.find("shape"), entry.shape)) fail(what + "has no shape");
  std::vector<int64_t> offsets;
  if (!unsigned_list(value.find("data_offsets"), offsets) || offsets.size() != 2 || offsets[0] > offsets[1])
    fail(what + "has no data_offsets");
  entry.offset = data_start + static_cast<uint64_t>(offsets[0]);
  entry.bytes = static_cast<uint64_t>(offsets[1] - offsets[0]);
  uint64_t expected = 0;
  if (!byte_count(entry.shape, entry.dtype, expected) || entry.bytes != expected)
    fail(what + to_string(entry.shape) + " of " + dtype->text + " has " + std::to_string(entry.bytes) + " bytes of data");
  if (entry.offset + entry.bytes > file_.size())
    fail("it is truncated, " + what + "ends at byte " + std::to_string(entry.offset + entry.bytes) + ", the file has " +
         std::to_string(file_.size()));
  return entry;
}

void SafetensorsFile::check_layout(uint64_t data_start) const {
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const auto& [name, entry] : tensors_) places.emplace_back(entry.offset, entry.offset + entry.bytes);
  std::sort(places.begin(), places.end());
  uint64_t end = data_start;
  for (const auto& [first, last] : places) {
    if (first != end) fail("its tensors overlap or leave gaps at byte " + std::to_string(std::min(first, end)));
    end = last;
  }
  if (end != file_.size()) fail("it has " + std::to_string(file_.size() - end) + " bytes after the last tensor");
}

Tensor SafetensorsFile::read(const TensorEntry& entry) const {
  const Tensor result = empty(entry.shape, TensorOptions(entry.dtype).device(kCPU));
  file_.read(entry.offset, result.raw_data(), entry.bytes);
  return result;
}

namespace {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

uint64_t bytes_of(const Tensor& tensor) { return static_cast<uint64_t>(tensor.numel()) * dtype_size(tensor.dtype()); }

// Adds `"name":` to a JSON object, after a comma unless it is the first member.
void add_name(std::string& object, const std::string& name) {
  if (object.back() != '{') object += ',';
  object.append(to_json(name)).append(":");
}

// Padded with spaces, so that the data starts at a multiple of 8.
std::string make_header(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  if (!metadata.empty()) {
    add_name(header, "__metadata__");
    header += '{';
    for (const auto& [key, value] : metadata) {
      add_name(header, key);
      header += to_json(value);
    }
    header += '}';
  }
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    add_name(header, name);
    header.append("{\"dtype\":\"").append(format_name(tensor.dtype())).append("\",\"shape\":[");
    for (const int64_t extent : tensor.sizes()) {
      if (header.back() != '[') header += ',';
      header += std::to_string(extent);
    }
    header.append("],\"data_offsets\":[").append(std::to_string(offset)).append(",");
    offset += bytes_of(tensor);
    header.append(std::to_string(offset)).append("]}");
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace

void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors, const std::map<std::string, std::string>& metadata) {
  // Wide elements first, so that every tensor is aligned to its element size.
  NamedTensors order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(name, tensor.detach().cpu().contiguous());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return dtype_size(a.second.dtype()) > dtype_size(b.second.dtype()); });

  const std::string header = make_header(order, metadata);
  const uint64_t length = header.size();
  AtomicFile file(path);
  file.write(&length, 8);
  file.write(header.data(), header.size());
  for (const auto& [name, tensor] : order) file.write(tensor.raw_data(), bytes_of(tensor));
  file.commit();
}

}  // namespace hvd::io
