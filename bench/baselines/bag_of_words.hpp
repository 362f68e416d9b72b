// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace baselines {

struct Text {
  std::string text;
  int64_t label = 0;
};

/// Runs of letters, digits and apostrophes, in lower case; bytes beyond ASCII count as letters.
std::vector<std::string> words_of(std::string_view text);

/// Numbers of the words that the texts have.
class Words {
 public:
  explicit Words(const std::vector<Text>& texts);
  /// The known words of a text with how often they occur, in the order of their numbers.
  std::vector<std::pair<size_t, double>> counts(std::string_view text) const;
  size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

/// Multinomial naive Bayes with one added to each count.
class NaiveBayes {
 public:
  explicit NaiveBayes(const std::vector<Text>& texts);
  int64_t classify(std::string_view text) const;

 private:
  Words words_;
  std::vector<double> priors_;                 // logarithms, of a class
  std::vector<std::vector<double>> of_class_;  // logarithms, of a word in a class
};

/// Multinomial logistic regression on which words occur (rows of length 1, and a bias), with `penalty` / 2 times the squared length
/// of the weights beside the mean cross-entropy.
class LogisticRegression {
 public:
  LogisticRegression(const std::vector<Text>& texts, double penalty);
  int64_t classify(std::string_view text) const;
  /// The largest absolute value in the gradient where the fit ended: 0 at the optimum.
  double gradient() const { return gradient_; }

 private:
  using Row = std::vector<std::pair<size_t, double>>;
  Row row(std::string_view text) const;
  std::vector<double> scores(const std::vector<double>& weights, const Row& row) const;
  std::vector<double> slope(const std::vector<double>& weights, const std::vector<Row>& rows, const std::vector<Text>& texts) const;

  Words words_;
  size_t classes_;
  double penalty_, gradient_ = 0;
  std::vector<double> weights_;  // [word or bias][class]
};

/// Part of the texts whose class a model finds.
template <class Model>
double accuracy(const Model& model, const std::vector<Text>& texts) {
  double right = 0;
  for (const Text& text : texts) right += model.classify(text.text) == text.label;
  return right / static_cast<double>(texts.size());
}

/// The penalty out of 10^-5 ... 10^-2 that does best on the last tenth of the texts after a fit to the others.
double chosen_penalty(const std::vector<Text>& texts);

}  // namespace baselines
