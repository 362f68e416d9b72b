// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tool/compare/json.h"
#include "tool/compare/tensors.h"

namespace hvdize::compare {
namespace verify_safetensors_test {
namespace {

std::string file(const std::string& header, const std::string& data) {
  std::string content(8, '\0');
  for (size_t i = 0; i < 8; ++i) content[i] = static_cast<char>(header.size() >> (8 * i));
  return content + header + data;
}

template <class T>
std::string bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string weights(const std::vector<double>& values) {
  const std::string n = std::to_string(values.size());
  return file(R"({"__metadata__":{"step":"7"},"w":{"dtype":"F64","shape":[)" + n + R"(,1],"data_offsets":[0,)" +
                  std::to_string(8 * values.size()) + "]}}",
              bytes(values));
}

std::string errorOf(const std::string& content) {
  try {
    parseSafetensors(content);
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "accepted";
}

TensorComparison compare(const std::string& a, const std::string& b, const TensorRules& rules = {}) {
  return compareCheckpoints(parseSafetensors(a), parseSafetensors(b), rules);
}

TEST(VerifyJson, ReadsEveryKindOfValue) {
  const JsonValue v = parseJson(R"( {"a": [1, -2.5e3, true, false, null], "b": {"c": "x\n\u00e9\ud83d\ude00\""}} )");
  ASSERT_EQ(v.find("a")->array.size(), 5u);
  EXPECT_EQ(v.find("a")->array[1].number, -2500);
  EXPECT_TRUE(v.find("a")->array[2].boolean);
  EXPECT_FALSE(v.find("a")->array[3].boolean);
  EXPECT_EQ(v.find("a")->array[4].kind, JsonValue::Null);
  EXPECT_EQ(v.find("b")->find("c")->string, "x\n\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(VerifyJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "{\"a\"}", "[1,]", "\"abc", "{} x", "tru", "\"\\q\"", "\"\\u12\""})
    EXPECT_THROW(parseJson(text), JsonError) << text;
  EXPECT_THROW(parseJson(std::string(1000, '[')), JsonError);
}

TEST(VerifySafetensors, ReadsTypesAndShapes) {
  const std::string data =
      bytes<float>({1.5f, -2.0f}) + bytes<int64_t>({1LL << 40}) + bytes<uint16_t>({0x3C00, 0xC000}) + bytes<uint16_t>({0x3F80});
  const Checkpoint c = parseSafetensors(file(R"({"f":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
      "i":{"dtype":"I64","shape":[],"data_offsets":[8,16]}, "h":{"dtype":"F16","shape":[2],"data_offsets":[16,20]},
      "b":{"dtype":"BF16","shape":[1,1],"data_offsets":[20,22]}})",
                                             data));
  EXPECT_EQ(valuesOf(c, c.tensors.at("f")), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(valuesOf(c, c.tensors.at("i")), (std::vector<double>{1099511627776.0}));
  EXPECT_EQ(valuesOf(c, c.tensors.at("h")), (std::vector<double>{1, -2}));
  EXPECT_EQ(valuesOf(c, c.tensors.at("b")), (std::vector<double>{1}));
}

TEST(VerifySafetensors, NamesWhatIsWrongWithAFile) {
  EXPECT_EQ(errorOf("abc"), "truncated: 3 bytes");
  EXPECT_EQ(errorOf(file("{}", "").substr(0, 9)), "truncated: a header of 2 bytes in a file of 9");
  EXPECT_EQ(errorOf(file("[]", "")), "the header is not a JSON object");
  EXPECT_EQ(errorOf(file(R"({"w":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})", "12345678")),
            "tensor 'w': its bytes end at 16, the data at 8");
  EXPECT_EQ(errorOf(file(R"({"w":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", "12345678")),
            "tensor 'w': 8 bytes, its shape needs 16");
  EXPECT_EQ(errorOf(file(R"({"w":{"dtype":"F99","shape":[],"data_offsets":[0,8]}})", "12345678")), "tensor 'w': unknown type 'F99'");
  EXPECT_EQ(errorOf(file(R"({"w":{"shape":[]}})", "")), "tensor 'w': dtype, shape or data_offsets is missing");
}

TEST(VerifySafetensors, IsKnownByItsContent) {
  EXPECT_TRUE(looksLikeSafetensors(weights({1})));
  EXPECT_FALSE(looksLikeSafetensors("epoch,loss\n1,0.5\n"));
  EXPECT_FALSE(looksLikeSafetensors(""));
}

TEST(VerifyTensors, MeasuresRelativeToTheLargestValue) {
  const TensorComparison c = compare(weights({100, 1e-3}), weights({100, 1e-3 + 1e-9}));
  EXPECT_TRUE(c.equal()) << c.difference;
  EXPECT_NEAR(c.largest, 1e-11, 1e-14);
  EXPECT_EQ(c.largestName, "w");
}

TEST(VerifyTensors, LocatesTheFirstDifference) {
  const TensorComparison c = compare(weights({1, 2, 4}), weights({1, 2, 5}));
  EXPECT_NE(c.difference.find("tensor 'w'[2, 0]: 4, in the distributed run 5; relative to the largest value 0.25"), std::string::npos)
      << c.difference;
}

TEST(VerifyTensors, ToleranceIsTheCallers) {
  TensorRules loose;
  loose.tolerance = 0.3;
  EXPECT_TRUE(compare(weights({1, 4}), weights({1, 5}), loose).equal());
  TensorRules exact;
  exact.exact = true;
  EXPECT_FALSE(compare(weights({1}), weights({1 + 1e-15}), exact).equal());
}

TEST(VerifyTensors, NotANumberDiffersFromANumber) {
  EXPECT_FALSE(compare(weights({1, 2}), weights({1, NAN})).equal());
  EXPECT_FALSE(compare(weights({0, 0}), weights({0, 1e-30})).equal());
  EXPECT_TRUE(compare(weights({1, NAN}), weights({1, NAN})).equal());
}

TEST(VerifyTensors, NamesTypesAndShapesMustAgree) {
  const std::string other =
      file(R"({"__metadata__":{"step":"7"},"v":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]}})", bytes<double>({1}));
  EXPECT_EQ(compare(weights({1}), other).difference, "tensor 'w' is missing in the distributed run");
  const std::string flat =
      file(R"({"__metadata__":{"step":"7"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", bytes<double>({1}));
  EXPECT_EQ(compare(weights({1}), flat).difference, "tensor 'w': shape [1, 1], in the distributed run [1]");
  EXPECT_EQ(compare(flat, file(R"({"__metadata__":{"step":"7"},"w":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", bytes<double>({1})))
                .difference,
            "tensor 'w': type F64, in the distributed run I64");
}

TEST(VerifyTensors, MetadataIsComparedAsText) {
  const std::string step8 = file(R"({"__metadata__":{"step":"8"}})", ""), step7 = file(R"({"__metadata__":{"step":"7"}})", "");
  EXPECT_EQ(compare(step7, step8).difference, "metadata 'step': '7', in the distributed run '8'");
  EXPECT_EQ(compare(step7, file("{}", "")).difference, "metadata 'step' is missing in the distributed run");
  EXPECT_TRUE(compare(step7, step7).equal());
}

TEST(VerifyTensors, ExcludedTensorsAreListed) {
  TensorRules rules;
  rules.excluded.emplace_back("^w$");
  const TensorComparison c = compare(weights({1}), weights({2}), rules);
  EXPECT_TRUE(c.equal());
  EXPECT_EQ(c.excluded, (std::vector<std::string>{"w"}));
  EXPECT_EQ(c.compared, 0u);
}

}  // namespace
}  // namespace verify_safetensors_test
}  // namespace hvdize::compare
