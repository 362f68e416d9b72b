// SPDX-License-Identifier: Apache-2.0
//
// Byte pairs, texts with labels, pieces of a text.
#include "data_support.hpp"

#include <hvd/hvd.hpp>

#include "data/tokenizer_words.hpp"

namespace data_text_test {
namespace {

using namespace data_test;
using hvd::data::ByteTokenizer;
using Tokens = std::vector<int64_t>;
namespace data = hvd::data;
namespace datasets = hvd::data::datasets;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view word : data::split_words(text)) out.emplace_back(word);
  return out;
}

TEST(DataTokenizer, WordsAreCutAsGpt2Does) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("Hello, world's 12 tests"), (Words{"Hello", ",", " world", "'s", " 12", " tests"}));
  EXPECT_EQ(words("a  b\n\nc \n"), (Words{"a", " ", " b", "\n", "\n", "c", " \n"}));
  EXPECT_EQ(words("I'll we've'"), (Words{"I", "'ll", " we", "'ve", "'"}));
  EXPECT_EQ(words("x=1;  "), (Words{"x", "=", "1", ";", "  "}));
  EXPECT_EQ(words("  "), (Words{"  "}));
  EXPECT_EQ(words(""), Words{});
}

TEST(DataTokenizer, BytesAloneAreTokens) {
  const ByteTokenizer bytes;
  EXPECT_EQ(bytes.size(), 256);
  EXPECT_EQ(bytes.encode("a\xc3\xa9"), (Tokens{97, 0xc3, 0xa9}));
}

TEST(DataTokenizer, TheMostFrequentPairIsJoinedFirst) {
  const ByteTokenizer t = ByteTokenizer::train("low low low lower lowest", 260);
  EXPECT_EQ(t.size(), 260);
  EXPECT_EQ(t.decode({256}), "lo");
  EXPECT_EQ(t.decode({257}), "low");
  EXPECT_EQ(t.encode("low"), (Tokens{257}));
  EXPECT_EQ(t.decode(t.encode(" lowest low")), " lowest low");
  EXPECT_EQ(ByteTokenizer::train("ab", 300).size(), 256);
  EXPECT_THROW(ByteTokenizer::train("ab", 255), hvd::Error);
  EXPECT_THROW(t.decode({260}), hvd::Error);
}

/// Any bytes come back, and joined neighbours never lie in two words.
TEST(DataTokenizer, EveryTextComesBack) {
  hvd::manual_seed(2);
  std::string text;
  for (const int64_t b : std::vector<int64_t>(3000)) text += static_cast<char>(b + hvd::randint(0, 256, {1}).item<int64_t>());
  for (int i = 0; i < 200; ++i) text += " the theme\tof them; ";
  const ByteTokenizer t = ByteTokenizer::train(text, 400);
  EXPECT_EQ(t.decode(t.encode(text)), text);
  EXPECT_LT(t.encode(text).size(), text.size());
  for (int64_t token = 256; token < t.size(); ++token) EXPECT_EQ(words(t.decode({token})).size(), 1u);
}

// A pair's list of words once named both again and again, twice as often after each merge. A fuzzer found it.
TEST(DataTokenizer, WordsThatShareManyPairsAreMergedOnce) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", both = letters + letters + "a " + letters + letters + "b " + letters + "c";
  const ByteTokenizer tokenizer = ByteTokenizer::train(both, 400);
  EXPECT_GT(tokenizer.size(), 256);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(both)), both);
  EXPECT_LT(tokenizer.encode(both).size(), both.size() / 8);
}

TEST(DataTokenizer, FilesOfGpt2AreReadAndWritten) {
  ScratchDir dir;
  const std::string text = "one two, one two three; \xf0\x9f\x98\x80 ones";
  const ByteTokenizer t = ByteTokenizer::train(text, 270);
  t.save(dir / "vocab.json", dir / "merges.txt");
  const ByteTokenizer back = ByteTokenizer::load(dir / "vocab.json", dir / "merges.txt");
  EXPECT_EQ(back.encode(text), t.encode(text));
  EXPECT_EQ(back.size(), t.size());
  EXPECT_NE(read_bytes(dir / "vocab.json").find("\xc4\xa0"), std::string::npos);  // a blank is written as U+0120
  write_bytes(dir / "merges.txt", "#version: 0.2\nzz y\n");
  expect_error([&] { ByteTokenizer::load(dir / "vocab.json", dir / "merges.txt"); }, {"merges.txt:2", "zz y"});
  write_bytes(dir / "vocab.json", "{\"a\": 0, \"b\": 0}");
  expect_error([&] { ByteTokenizer::load(dir / "vocab.json", dir / "merges.txt"); }, {"vocab.json", "'b'"});
  write_bytes(dir / "vocab.json", "{\"a\": 0}");
  expect_error([&] { ByteTokenizer::load(dir / "vocab.json", dir / "merges.txt"); }, {"no token for byte"});
  write_bytes(dir / "vocab.json", "{\"a\": ");
  expect_error([&] { ByteTokenizer::load(dir / "vocab.json", dir / "merges.txt"); }, {"vocab.json"});
}

TEST(DataTexts, LinesHaveTheirLabelInFrontOrBehind) {
  ScratchDir dir;
  write_bytes(dir / "a.tsv", "1\tgood film\n0\tbad\r\n\nso so\t1\n");
  const auto texts = data::read_labelled_texts(dir / "a.tsv");
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].text, "good film");
  EXPECT_EQ(texts[1].text, "bad");
  EXPECT_EQ(texts[2].label, 1);
  write_bytes(dir / "b.tsv", "1\tgood\nno label\n");
  expect_error([&] { data::read_labelled_texts(dir / "b.tsv"); }, {"b.tsv:2"});
  write_bytes(dir / "c.tsv", "");
  expect_error([&] { data::read_labelled_texts(dir / "c.tsv"); }, {"c.tsv", "no texts"});
}

TEST(DataTexts, FoldersAreClasses) {
  ScratchDir dir;
  for (const std::string name : {"pos", "neg", "unsup"}) {
    std::filesystem::create_directory(dir / name);
    write_bytes(dir / (name + "/1.txt"), "is " + name);
  }
  const auto texts = data::read_labelled_texts(dir.path());
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].text, "is neg");
  EXPECT_EQ(texts[1].label, 1);
}

TEST(DataTexts, SequencesAreCutOffAndFilledUp) {
  datasets::TokenizedTexts set({{"abc", 1}, {"d", 0}}, ByteTokenizer(), 2);
  const auto batch = set.get_batch({1, 0});
  EXPECT_TRUE(hvd::equal(batch.data, hvd::tensor({101, 0, 98, 99}).view({2, 2})));
  EXPECT_TRUE(hvd::equal(batch.target, hvd::tensor({0, 1})));
  EXPECT_TRUE(hvd::equal(set.get(0).data, batch.data[1]));
  EXPECT_THROW(set.get_batch({2}), hvd::Error);
}

TEST(DataTexts, PiecesAreFollowedByTheirTargets) {
  datasets::TokenPieces set({1, 2, 3, 4, 5, 6, 7, 8}, 3);
  EXPECT_EQ(set.size(), 2u);
  const auto batch = set.get_batch({1, 0});
  EXPECT_TRUE(hvd::equal(batch.data, hvd::tensor({4, 5, 6, 1, 2, 3}).view({2, 3})));
  EXPECT_TRUE(hvd::equal(batch.target, hvd::tensor({5, 6, 7, 2, 3, 4}).view({2, 3})));
  EXPECT_TRUE(hvd::equal(set.get(1).target, batch.target[0]));
  EXPECT_THROW(datasets::TokenPieces({1, 2, 3}, 3), hvd::Error);
}

}  // namespace
}  // namespace data_text_test
