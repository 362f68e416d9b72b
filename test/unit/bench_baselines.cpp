// SPDX-License-Identifier: Apache-2.0
#include "bench/baselines/bag_of_words.hpp"
#include "bench/baselines/kneser_ney.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

using baselines::KneserNey;
using baselines::LogisticRegression;
using baselines::NaiveBayes;
using baselines::Text;

namespace {

std::vector<int64_t> random_tokens(size_t n, int64_t vocabulary, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int64_t> tokens;
  // Few tokens often, many seldom: counts of counts are there.
  for (size_t i = 0; i < n; ++i) tokens.push_back(static_cast<int64_t>(engine() % static_cast<uint64_t>(1 + engine() % static_cast<uint64_t>(vocabulary))));
  return tokens;
}

TEST(Baselines, ProbabilitiesOfNGramsSumToOne) {
  const auto train = random_tokens(400, 40, 1);
  for (size_t order = 1; order <= 4; ++order) {
    const KneserNey model(train, 50, order);  // ten tokens that never come
    std::vector<int64_t> text = random_tokens(6, 50, 2);
    for (size_t at = 0; at < text.size(); ++at) {
      const int64_t kept = text[at];
      double sum = 0;
      for (text[at] = 0; text[at] < 50; ++text[at]) {
        const double p = model.probability(text, at);
        EXPECT_GT(p, 0) << "order " << order << ", token " << text[at];
        sum += p;
      }
      EXPECT_NEAR(sum, 1, 1e-12) << "order " << order << ", place " << at;
      text[at] = kept;
    }
  }
}

TEST(Baselines, NGramsByHand) {
  // Pairs of 0 1 0 1 0 2: (0 1) twice, (1 0) twice, (0 2) once. No count of counts for 3 and 4, so every discount is a half.
  const KneserNey model({0, 1, 0, 1, 0, 2}, 4, 2);
  // Different tokens before 0, 1, 2: one each. A token of its own: half a count of three, and of the three halves a quarter for each of 4 tokens.
  const double alone = 0.5 / 3 + 1.5 / 3 * 0.25, never = 1.5 / 3 * 0.25;
  EXPECT_NEAR(model.probability({1}, 0), alone, 1e-15);
  EXPECT_NEAR(model.probability({3}, 0), never, 1e-15);
  // After 0: three times, two different followers.
  EXPECT_NEAR(model.probability({0, 1}, 1), 1.5 / 3 + 1.0 / 3 * alone, 1e-15);
  EXPECT_NEAR(model.probability({0, 2}, 1), 0.5 / 3 + 1.0 / 3 * alone, 1e-15);
  EXPECT_NEAR(model.probability({0, 3}, 1), 1.0 / 3 * never, 1e-15);
  // 3 was never a context: the model without context.
  EXPECT_NEAR(model.probability({3, 1}, 1), alone, 1e-15);
  EXPECT_NEAR(baselines::perplexity(model, {0, 1, 3}, 1), 1 / (1.5 / 3 + 1.0 / 3 * alone), 1e-12);
  EXPECT_THROW(baselines::perplexity(model, {0, 1, 3}, 3), std::invalid_argument);
  EXPECT_THROW(KneserNey({0, 4}, 4, 2), std::invalid_argument);
}

TEST(Baselines, LongerContextsFindACycle) {
  std::vector<int64_t> tokens;
  for (int i = 0; i < 300; ++i) tokens.push_back(i % 6 < 3 ? 0 : i % 6 - 2);  // 0 0 0 1 2 3: what follows two zeros takes three tokens to know
  const double two = baselines::perplexity(KneserNey(tokens, 4, 2), tokens, 200), four = baselines::perplexity(KneserNey(tokens, 4, 4), tokens, 200);
  EXPECT_GT(two, 1.3);
  EXPECT_LT(four, 1.05);
}

TEST(Baselines, WordsAreLowerCase) {
  EXPECT_EQ(baselines::words_of("It's \xc3\x84pfel, 2 GOOD!"), (std::vector<std::string>{"it's", "\xc3\x84pfel", "2", "good"}));
  EXPECT_TRUE(baselines::words_of(" ,.").empty());
}

TEST(Baselines, NaiveBayesByHand) {
  const std::vector<Text> texts = {{"good good film", 1}, {"bad film", 0}, {"bad bad plot", 0}};
  const NaiveBayes model(texts);
  // P(0) = 2/3, P(1) = 1/3; of 4 words: good 3/7 of class 1 and 1/9 of class 0; film 2/7 and 2/9.
  EXPECT_EQ(model.classify("film"), 0);       // 2/3 2/9 = 0.148 > 1/3 2/7 = 0.095
  EXPECT_EQ(model.classify("good film"), 1);  // 0.016 < 0.041
  EXPECT_EQ(model.classify("unknown"), 0);    // the more frequent class
}

TEST(Baselines, LogisticRegressionReachesItsOptimum) {
  std::vector<Text> texts;
  std::mt19937 engine(3);
  const char* words[] = {"sun", "rain", "wind", "the", "a"};
  for (int i = 0; i < 90; ++i) {
    const int64_t label = i % 3;
    texts.push_back({std::string(words[label]) + " " + words[3 + engine() % 2] + " " + words[engine() % 5], label});
  }
  const LogisticRegression model(texts, 1e-2);
  EXPECT_LT(model.gradient(), 1e-5);
  EXPECT_EQ(model.classify("sun"), 0);
  EXPECT_EQ(model.classify("rain a"), 1);
  EXPECT_EQ(model.classify("the wind"), 2);
  EXPECT_GT(baselines::accuracy(model, texts), 0.8);
  EXPECT_LE(baselines::chosen_penalty(texts), 1e-2);
}

}  // namespace
