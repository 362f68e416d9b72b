// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <src/io/json.hpp>

namespace checkpoint_json_test {
namespace {

using data_test::expect_error;
using hvd::io::Json;
using hvd::io::parse_json;
using hvd::io::to_json;

TEST(CheckpointJson, ReadsValues) {
  const Json value = parse_json(R"( {"a":[1, -2.5e3 ,true,null], "b":{"c":"x\n\u00e9\ud83d\ude00\\"}} )");
  ASSERT_EQ(value.members.size(), 2u);
  const Json& list = *value.find("a");
  ASSERT_EQ(list.items.size(), 4u);
  uint64_t number = 0;
  EXPECT_TRUE(list.items[0].to_unsigned(number));
  EXPECT_EQ(number, 1u);
  EXPECT_FALSE(list.items[1].to_unsigned(number));
  EXPECT_EQ(list.items[1].text, "-2.5e3");
  EXPECT_TRUE(list.items[2].truth);
  EXPECT_EQ(list.items[3].kind, Json::Kind::null);
  EXPECT_EQ(value.find("b")->find("c")->text, "x\n\xc3\xa9\xf0\x9f\x98\x80\\");
  EXPECT_EQ(value.find("z"), nullptr);
}

TEST(CheckpointJson, StringsSurviveWritingAndReading) {
  const std::string text = "quote \" backslash \\ newline \n bell \x07 umlaut \xc3\xbc";
  EXPECT_EQ(parse_json(to_json(text)).text, text);
}

TEST(CheckpointJson, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "{a:1}", "tru", "1 2", "\"open", "\"\\x\"", "\"\\ud800\"", "-", "1.", "\"tab\t\"",
                           "{\"a\":1,\"a\":2}"})
    expect_error([&] { parse_json(text); }, {"JSON, at byte"});
  expect_error([&] { parse_json(std::string(100000, '[')); }, {"nested too deeply"});
}

TEST(CheckpointJson, LargeNumbersDoNotWrap) {
  uint64_t number = 0;
  EXPECT_TRUE(parse_json("9223372036854775807").to_unsigned(number));
  EXPECT_FALSE(parse_json("9223372036854775808").to_unsigned(number));
  EXPECT_FALSE(parse_json("99999999999999999999").to_unsigned(number));
}

}  // namespace
}  // namespace checkpoint_json_test
