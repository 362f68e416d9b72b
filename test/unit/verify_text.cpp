// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tool/compare/text.h"

namespace hvdize::compare {
namespace verify_text_test {
namespace {

std::vector<std::string> tokens(const std::string& line, Token::Kind kind) {
  std::vector<std::string> result;
  for (const Token& token : tokenize(line))
    if (token.kind == kind) result.push_back(token.text);
  return result;
}

using Texts = std::vector<std::string>;

TEST(VerifyText, FindsNumbersInWhatTrainersPrint) {
  EXPECT_EQ(tokens("epoch 3 [640/60000] loss=0.1234, 97.5% lr 1e-05 (-.5)", Token::Number),
            (Texts{"3", "640", "60000", "0.1234", "97.5", "1e-05", "-.5"}));
  EXPECT_EQ(tokens("conv1 fc_2 v1.5", Token::Number), (Texts{"5"}));
  EXPECT_EQ(tokens("took 5.", Token::Number), (Texts{"5"}));
  EXPECT_EQ(tokens("2024-01-02", Token::Number), (Texts{"2024", "01", "02"}));
  EXPECT_EQ(tokens("nan inf e5 -", Token::Number), (Texts{}));
}

TEST(VerifyText, KnowsTheColumn) {
  const std::vector<Token> found = tokenize("  loss 0.5");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].column, 3u);
  EXPECT_EQ(found[1].column, 8u);
}

TEST(VerifyText, OneUnitInTheLastPlaceAgrees) {
  EXPECT_NE(numbersAgree("0.1234", "0.1235", 0), Agreement::None);
  EXPECT_EQ(numbersAgree("0.1234", "0.1236", 0), Agreement::None);
  EXPECT_NE(numbersAgree("9.9999", "10.0000", 0), Agreement::None);
  EXPECT_NE(numbersAgree("1.234e-05", "1.235e-05", 0), Agreement::None);
  EXPECT_EQ(numbersAgree("1.234e-05", "1.234e-04", 0), Agreement::None);
  // A stream drops zeros at the end: the finer of the two sets the unit.
  EXPECT_NE(numbersAgree("0.5", "0.500001", 0), Agreement::None);
  EXPECT_EQ(numbersAgree("0.5", "0.52", 0), Agreement::None);
  EXPECT_NE(numbersAgree("-0.0000", "0.0000", 0), Agreement::None);
}

TEST(VerifyText, WholeNumbersAreExact) {
  EXPECT_EQ(numbersAgree("8123", "8124", 0.1), Agreement::None);
  EXPECT_NE(numbersAgree("007", "7", 0), Agreement::None);
  EXPECT_EQ(numbersAgree("9007199254740993", "9007199254740992", 0), Agreement::None);
}

TEST(VerifyText, ToleranceIsRelative) {
  EXPECT_EQ(numbersAgree("0.12345678901234567", "0.12345678901234999", 1e-10), Agreement::Tolerance);
  EXPECT_EQ(numbersAgree("0.12345678901234567", "0.12345698901234567", 1e-10), Agreement::None);
}

TEST(VerifyText, EqualTextIsEqual) {
  const TextComparison result = compareText("loss 0.1\n", "loss 0.1\n", {});
  EXPECT_TRUE(result.equal());
  EXPECT_EQ(result.numbersCompared, 1u);
  EXPECT_EQ(result.lastPlace, 0u);
}

TEST(VerifyText, PaddingMayFollowTheDigits) {
  const TextComparison result = compareText("loss  9.9999 x\n", "loss 10.0000 x\n", {});
  EXPECT_TRUE(result.equal());
  EXPECT_EQ(result.lastPlace, 1u);
  EXPECT_EQ(result.withinTolerance, 0u);
}

TEST(VerifyText, LocatesTheFirstDifference) {
  const TextComparison result = compareText("a 1\nloss 0.10 b\n", "a 1\nloss 0.20 b\n", {});
  ASSERT_FALSE(result.equal());
  EXPECT_EQ(result.difference->line, 2u);
  EXPECT_EQ(result.difference->column, 6u);
  EXPECT_EQ(result.difference->expected, "loss 0.10 b");
  EXPECT_EQ(result.difference->actual, "loss 0.20 b");
}

TEST(VerifyText, WordsAreExact) {
  EXPECT_FALSE(compareText("saved best\n", "saved last\n", {}).equal());
  EXPECT_FALSE(compareText("loss nan\n", "loss 0.1\n", {}).equal());
  EXPECT_FALSE(compareText("a b\n", "a\n", {}).equal());
}

TEST(VerifyText, MissingAndSurplusLinesDiffer) {
  const TextComparison missing = compareText("a\nb\n", "a\n", {});
  ASSERT_FALSE(missing.equal());
  EXPECT_EQ(missing.difference->line, 2u);
  EXPECT_EQ(missing.difference->actual, "(the text ends)");
  const TextComparison surplus = compareText("a\n", "a\na\n", {});
  ASSERT_FALSE(surplus.equal());
  EXPECT_EQ(surplus.difference->line, 2u);
  EXPECT_FALSE(compareText("", "a\n", {}).equal());
}

TEST(VerifyText, ExactMeansEveryByte) {
  TextRules rules;
  rules.exact = true;
  EXPECT_TRUE(compareText("a  1\n", "a  1\n", rules).equal());
  EXPECT_FALSE(compareText("a  1\n", "a 1\n", rules).equal());
  EXPECT_FALSE(compareText("0.1234\n", "0.1235\n", rules).equal());
  EXPECT_FALSE(compareText("a\n", "a", rules).equal());
}

TEST(VerifyText, IgnoredLinesKeepTheNumbering) {
  TextRules rules;
  rules.ignoredLines.emplace_back("^took ");
  const TextComparison result = compareText("took 3 s\nx 1\n", "x 2\ntook 5 s\ntook 6 s\n", rules);
  ASSERT_FALSE(result.equal());
  EXPECT_EQ(result.difference->line, 2u);
  EXPECT_EQ(result.linesIgnored, 1u);
}

}  // namespace
}  // namespace verify_text_test
}  // namespace hvdize::compare
