// SPDX-License-Identifier: Apache-2.0
#include "window_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hvd::dist {

namespace {

#if defined(__SSE2__)
constexpr bool kCanPass = true;

// Whole lines go past the caches; what is left at both ends does not.
void copy_past_caches(char* to, const char* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; done + kLine <= bytes; done += kLine)
    for (std::size_t i = 0; i < kLine; i += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + done + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done + i)));
  std::memcpy(to + done, from + done, bytes - done);
  _mm_sfence();
}
#else
constexpr bool kCanPass = false;

void copy_past_caches(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

void WindowWriter::write(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (skip_ > 0) return copy_past_caches(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  if (bytes < kLeast) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  std::memcpy(to, from, bytes);
  // The quickest one counts: the others may have been interrupted.
  best_ = std::min(best_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(bytes));
}

void WindowWriter::finish() {
  if (skip_ > 0) --skip_;
  else if (kCanPass && best_ != kNone && best_ * slow_ > 1) skip_ = kOperations;
  best_ = kNone;
}

}  // namespace hvd::dist
