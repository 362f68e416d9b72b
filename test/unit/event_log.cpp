// SPDX-License-Identifier: Apache-2.0
#include "examples/event_log.h"

#include <gtest/gtest.h>

namespace event_log_test {
namespace {

TEST(EventLog, ChecksumIsThatOfRfc3720) {
  EXPECT_EQ(event_log::crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(event_log::crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(event_log::crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(EventLog, RecordsHaveTheFormOfEventProto) {
  const std::string record = event_log::event(1.5, 300, event_log::field(5, "x"));
  const std::string content = record.substr(12, record.size() - 16);
  EXPECT_EQ(static_cast<unsigned char>(record[0]), content.size());
  EXPECT_EQ(record.substr(1, 7), std::string(7, '\0'));
  // wall_time = 1 (fixed64), step = 2 (varint 300), summary = 5 (1 byte).
  EXPECT_EQ(content, std::string("\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x01x", 15));
  uint32_t stored = 0;
  std::memcpy(&stored, record.data() + record.size() - 4, 4);
  const uint32_t turned = stored - 0xa282ead8u;
  EXPECT_EQ((turned >> 17) | (turned << 15), event_log::crc32c(content));
}

TEST(EventLog, ScalarsHoldNameAndValue) {
  const std::string record = event_log::scalar("test/loss", 0.25, 7);
  EXPECT_NE(record.find(std::string("\x0a\x09test/loss\x15\0\0\x80\x3e", 16)), std::string::npos);
  EXPECT_NE(event_log::header().find("\x1a\x0d" "brain.Event:2"), std::string::npos);
}

}  // namespace
}  // namespace event_log_test
