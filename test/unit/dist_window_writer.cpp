// SPDX-License-Identifier: Apache-2.0
#include "dist/local/window_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

using hvd::dist::WindowWriter;

namespace {

// Copies between all alignments and lengths around a cache line, and a few large ones; nothing beside the target is touched.
void expect_copies(WindowWriter& writer) {
  std::vector<unsigned char> from(40'000);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 2048, 2049, 8192, 30'001})
    for (const std::size_t at : {0, 1, 16, 63})
      for (const std::size_t source : {0, 8, 33}) {
        std::vector<unsigned char> to(bytes + 256, 0);
        writer.write(to.data() + at, from.data() + source, bytes);
        EXPECT_TRUE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(at), to.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                               from.begin() + static_cast<std::ptrdiff_t>(source)))
            << bytes << " bytes to " << at << " from " << source;
        EXPECT_EQ(std::count(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at), 0), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(std::count(to.begin() + static_cast<std::ptrdiff_t>(at + bytes), to.end(), 0), static_cast<std::ptrdiff_t>(256 - at));
      }
}

}  // namespace

TEST(WindowWriter, CopiesThroughTheCaches) {
  WindowWriter writer(0);  // nothing is that slow
  expect_copies(writer);
  writer.finish();
  EXPECT_FALSE(writer.past_caches());
}

#if defined(__SSE2__)
TEST(WindowWriter, GoesPastSlowCachesAndTriesThemAgain) {
  WindowWriter writer(std::numeric_limits<double>::max());  // everything is
  std::vector<char> from(16'384, 1), to(16'384);
  writer.write(to.data(), from.data(), 100);
  writer.finish();
  EXPECT_FALSE(writer.past_caches()) << "too short to be timed";
  writer.write(to.data(), from.data(), from.size());
  writer.finish();
  for (int i = 0; i < WindowWriter::kOperations; ++i) {
    ASSERT_TRUE(writer.past_caches()) << "operation " << i;
    if (i == 0) expect_copies(writer);
    writer.finish();
  }
  EXPECT_FALSE(writer.past_caches());
}
#endif
