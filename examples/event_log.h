// SPDX-License-Identifier: Apache-2.0
//
// Records of TensorBoard's event files: TFRecord frames (length, masked CRC-32C of it, content, masked CRC-32C of that) around messages
// of tensorflow/core/util/event.proto, for numbers over steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

namespace event_log {

/// CRC-32C (Castagnoli), as RFC 3720 has it.
inline uint32_t crc32c(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

template <class T>
std::string little_endian(T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return {bytes, sizeof bytes};
}

inline std::string framed(const std::string& content) {
  const auto masked = [](const std::string& bytes) {
    const uint32_t crc = crc32c(bytes);
    return little_endian(((crc >> 15) | (crc << 17)) + 0xa282ead8u);
  };
  const std::string length = little_endian(static_cast<uint64_t>(content.size()));
  return length + masked(length) + content + masked(content);
}

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>(0x80 | (value & 127));
  return out + static_cast<char>(value);
}

/// A field with text or a message inside.
inline std::string field(int number, const std::string& content) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}

inline std::string event(double wall_time, int64_t step, const std::string& what) {
  std::string fields(1, '\x09');
  fields += little_endian(wall_time);
  fields += '\x10';
  fields += varint(static_cast<uint64_t>(step));
  return framed(fields + what);
}

inline double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// The first record of a file.
inline std::string header() { return event(now(), 0, field(3, "brain.Event:2")); }

/// A number under a name at a step.
inline std::string scalar(const std::string& name, double value, int64_t step) {
  return event(now(), step, field(5, field(1, field(1, name) + "\x15" + little_endian(static_cast<float>(value)))));
}

}  // namespace event_log
