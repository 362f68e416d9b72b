// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/safetensors.h"

#include <cmath>
#include <cstring>

#include "tool/compare/json.h"

namespace hvdize::compare {
namespace {

constexpr size_t kLengthBytes = 8;

uint64_t headerLength(const std::string& content) {
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(static_cast<unsigned char>(content[i])) << (8 * i);
  return length;
}

size_t offset(const std::string& name, const JsonValue& value) {
  if (value.kind != JsonValue::Number || value.number < 0 || value.number != std::floor(value.number))
    throw CheckpointError("tensor '" + name + "': an offset or extent is not a whole number");
  return static_cast<size_t>(value.number);
}

TensorEntry readEntry(const std::string& name, const JsonValue& value, size_t dataBytes) {
  const JsonValue* dtype = value.find("dtype");
  const JsonValue* shape = value.find("shape");
  const JsonValue* offsets = value.find("data_offsets");
  if (!dtype || dtype->kind != JsonValue::String || !shape || shape->kind != JsonValue::Array || !offsets || offsets->array.size() != 2)
    throw CheckpointError("tensor '" + name + "': dtype, shape or data_offsets is missing");
  TensorEntry entry;
  entry.dtype = dtype->string;
  size_t bytes = bytesOf(entry.dtype);
  if (bytes == 0) throw CheckpointError("tensor '" + name + "': unknown type '" + entry.dtype + "'");
  for (const JsonValue& extent : shape->array) {
    entry.shape.push_back(static_cast<int64_t>(offset(name, extent)));
    bytes *= offset(name, extent);
  }
  entry.begin = offset(name, offsets->array[0]);
  entry.end = offset(name, offsets->array[1]);
  if (entry.end < entry.begin || entry.end > dataBytes)
    throw CheckpointError("tensor '" + name + "': its bytes end at " + std::to_string(entry.end) + ", the data at " +
                          std::to_string(dataBytes));
  if (entry.end - entry.begin != bytes)
    throw CheckpointError("tensor '" + name + "': " + std::to_string(entry.end - entry.begin) + " bytes, its shape needs " +
                          std::to_string(bytes));
  return entry;
}

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double fromHalf(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double fromBfloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

using Reader = double (*)(const char*);

template <class T>
double readAs(const char* from) {
  return static_cast<double>(load<T>(from));
}

struct Type {
  const char* name;
  size_t bytes;
  Reader read;
};

const Type kTypes[] = {
    {"F64", 8, readAs<double>},
    {"F32", 4, readAs<float>},
    {"F16", 2, [](const char* p) { return fromHalf(load<uint16_t>(p)); }},
    {"BF16", 2, [](const char* p) { return fromBfloat16(load<uint16_t>(p)); }},
    {"I64", 8, readAs<int64_t>},
    {"I32", 4, readAs<int32_t>},
    {"I16", 2, readAs<int16_t>},
    {"I8", 1, readAs<int8_t>},
    {"U64", 8, readAs<uint64_t>},
    {"U32", 4, readAs<uint32_t>},
    {"U16", 2, readAs<uint16_t>},
    {"U8", 1, readAs<uint8_t>},
    {"BOOL", 1, readAs<uint8_t>},
};

const Type* typeNamed(const std::string& name) {
  for (const Type& type : kTypes)
    if (name == type.name) return &type;
  return nullptr;
}

}  // namespace

size_t bytesOf(const std::string& dtype) {
  const Type* type = typeNamed(dtype);
  return type ? type->bytes : 0;
}

std::vector<double> valuesOf(const Checkpoint& checkpoint, const TensorEntry& entry) {
  const Type& type = *typeNamed(entry.dtype);
  std::vector<double> values((entry.end - entry.begin) / type.bytes);
  const char* from = checkpoint.data.data() + entry.begin;
  for (double& value : values) {
    value = type.read(from);
    from += type.bytes;
  }
  return values;
}

bool looksLikeSafetensors(const std::string& content) {
  return content.size() > kLengthBytes && headerLength(content) <= content.size() - kLengthBytes && content[kLengthBytes] == '{';
}

Checkpoint parseSafetensors(const std::string& content) {
  if (content.size() < kLengthBytes) throw CheckpointError("truncated: " + std::to_string(content.size()) + " bytes");
  const uint64_t length = headerLength(content);
  if (length > content.size() - kLengthBytes)
    throw CheckpointError("truncated: a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(content.size()));
  JsonValue header;
  try {
    header = parseJson(content.substr(kLengthBytes, length));
  } catch (const JsonError& error) {
    throw CheckpointError(std::string("the header is not valid: ") + error.what());
  }
  if (header.kind != JsonValue::Object) throw CheckpointError("the header is not a JSON object");
  Checkpoint checkpoint;
  checkpoint.data = content.substr(kLengthBytes + length);
  for (const auto& [name, value] : header.object) {
    if (name == "__metadata__") {
      for (const auto& [key, text] : value.object) checkpoint.metadata[key] = text.string;
    } else {
      checkpoint.tensors[name] = readEntry(name, value, checkpoint.data.size());
    }
  }
  return checkpoint;
}

}  // namespace hvdize::compare
