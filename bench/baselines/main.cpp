// SPDX-License-Identifier: Apache-2.0
//
// What the curves of the examples are held against: models without a network, on the same data and the same parts of it.
//
//   hvd-bench-baselines n-grams FILE VOCABULARY LENGTH ORDER   language_model --train FILE --vocabulary VOCABULARY --length LENGTH: its tokens, its test tokens;
//                                                              orders up to ORDER
//   hvd-bench-baselines words TRAIN TEST                       text_classifier --train TRAIN --test TEST

#include "bench/baselines/bag_of_words.hpp"
#include "bench/baselines/kneser_ney.hpp"

#include <hvd/data.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace data = hvd::data;

static void n_grams(const std::string& path, int64_t vocabulary, int64_t length, size_t most) {
  const std::string text = data::read_text(path);
  const size_t cut = text.size() - text.size() / 10;
  const std::string train = text.substr(0, cut), test = text.substr(cut);
  const auto tokenizer = data::ByteTokenizer::train(train, vocabulary);
  const std::vector<int64_t> train_tokens = tokenizer.encode(train), test_tokens = tokenizer.encode(test);
  // A network predicts the tokens of whole pieces, the first token never.
  const size_t predicted = data::datasets::TokenPieces(test_tokens, length).size() * static_cast<size_t>(length);
  const double bytes = static_cast<double>(test.size()) / static_cast<double>(test_tokens.size());
  std::cout << "order,tokens,perplexity,bits_per_byte" << std::endl;
  for (size_t order = 1; order <= most; ++order) {
    const double found = baselines::perplexity(baselines::KneserNey(train_tokens, tokenizer.size(), order), test_tokens, predicted);
    std::cout << order << "," << predicted << "," << found << "," << std::log2(found) / bytes << std::endl;
  }
}

static std::vector<baselines::Text> open_texts(const std::string& path) {
  std::vector<baselines::Text> texts;
  for (const data::LabelledText& text : data::read_labelled_texts(path)) texts.push_back({text.text, text.label});
  // Sorted by class, the last tenth would be of one class.
  std::mt19937 engine(1);
  for (size_t i = texts.size(); i > 1; --i) std::swap(texts[i - 1], texts[engine() % i]);
  return texts;
}

static void words(const std::string& train_path, const std::string& test_path) {
  const auto train = open_texts(train_path), test = open_texts(test_path);
  std::cout << "model,texts,test_accuracy" << std::endl;
  std::cout << "naive Bayes," << test.size() << "," << baselines::accuracy(baselines::NaiveBayes(train), test) << std::endl;
  const baselines::LogisticRegression regression(train, baselines::chosen_penalty(train));
  std::cout << "logistic regression," << test.size() << "," << baselines::accuracy(regression, test) << std::endl;
}

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 5 && args[0] == "n-grams") {
      n_grams(args[1], std::stoll(args[2]), std::stoll(args[3]), std::stoul(args[4]));
    } else if (args.size() == 3 && args[0] == "words") {
      words(args[1], args[2]);
    } else {
      std::cerr << "usage: hvd-bench-baselines n-grams FILE VOCABULARY LENGTH ORDER | words TRAIN TEST" << std::endl;
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "hvd-bench-baselines: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
