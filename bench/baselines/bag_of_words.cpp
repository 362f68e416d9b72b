// SPDX-License-Identifier: Apache-2.0
#include "bench/baselines/bag_of_words.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <stdexcept>

namespace baselines {

namespace {

size_t classes_of(const std::vector<Text>& texts) {
  if (texts.empty()) throw std::invalid_argument("bag of words: no texts");
  int64_t classes = 0;
  for (const Text& text : texts) {
    if (text.label < 0) throw std::invalid_argument("bag of words: a label below 0");
    classes = std::max(classes, text.label + 1);
  }
  return static_cast<size_t>(classes);
}

int64_t place_of_largest(const std::vector<double>& scores) { return std::max_element(scores.begin(), scores.end()) - scores.begin(); }

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = byte > 127 || std::isalnum(byte) || byte == '\'';
    if (part && !inside) words.emplace_back();
    if (part) words.back() += byte > 127 ? c : static_cast<char>(std::tolower(byte));
    inside = part;
  }
  return words;
}

Words::Words(const std::vector<Text>& texts) {
  for (const Text& text : texts)
    for (const std::string& word : words_of(text.text)) numbers_.emplace(word, numbers_.size());
}

std::vector<std::pair<size_t, double>> Words::counts(std::string_view text) const {
  std::map<size_t, double> counts;
  for (const std::string& word : words_of(text))
    if (const auto known = numbers_.find(word); known != numbers_.end()) ++counts[known->second];
  return {counts.begin(), counts.end()};
}

NaiveBayes::NaiveBayes(const std::vector<Text>& texts) : words_(texts) {
  const size_t classes = classes_of(texts);
  priors_.assign(classes, 0);
  of_class_.assign(classes, std::vector<double>(words_.size(), 1));
  for (const Text& text : texts) {
    const auto label = static_cast<size_t>(text.label);
    ++priors_[label];
    for (const auto& [word, count] : words_.counts(text.text)) of_class_[label][word] += count;
  }
  for (size_t label = 0; label < classes; ++label) {
    priors_[label] = std::log(priors_[label] / static_cast<double>(texts.size()));
    double total = 0;
    for (const double count : of_class_[label]) total += count;
    for (double& count : of_class_[label]) count = std::log(count / total);
  }
}

int64_t NaiveBayes::classify(std::string_view text) const {
  std::vector<double> scores = priors_;
  for (const auto& [word, count] : words_.counts(text))
    for (size_t label = 0; label < scores.size(); ++label) scores[label] += count * of_class_[label][word];
  return place_of_largest(scores);
}

LogisticRegression::LogisticRegression(const std::vector<Text>& texts, double penalty)
    : words_(texts), classes_(classes_of(texts)), penalty_(penalty), weights_((words_.size() + 1) * classes_, 0) {
  std::vector<Row> rows;
  for (const Text& text : texts) rows.push_back(row(text.text));
  // Accelerated gradient descent (Nesterov). The curvature of the cross-entropy of a row is at most half its squared length, which is 2.
  const double step = 1 / (1 + penalty);
  std::vector<double> ahead = weights_, before = weights_;
  for (int k = 1; k <= 2000; ++k) {
    const std::vector<double> gradient = slope(ahead, rows, texts);
    gradient_ = 0;
    for (const double g : gradient) gradient_ = std::max(gradient_, std::abs(g));
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = ahead[i] - step * gradient[i];
    if (gradient_ < 1e-5) break;
    for (size_t i = 0; i < weights_.size(); ++i) ahead[i] = weights_[i] + (k - 1.0) / (k + 2.0) * (weights_[i] - before[i]);
    before = weights_;
  }
}

LogisticRegression::Row LogisticRegression::row(std::string_view text) const {
  Row row = words_.counts(text);
  for (auto& [word, value] : row) value = 1 / std::sqrt(static_cast<double>(row.size()));
  row.emplace_back(words_.size(), 1);
  return row;
}

std::vector<double> LogisticRegression::scores(const std::vector<double>& weights, const Row& row) const {
  std::vector<double> scores(classes_, 0);
  for (const auto& [word, value] : row)
    for (size_t label = 0; label < classes_; ++label) scores[label] += value * weights[word * classes_ + label];
  return scores;
}

std::vector<double> LogisticRegression::slope(const std::vector<double>& weights, const std::vector<Row>& rows, const std::vector<Text>& texts) const {
  std::vector<double> slope(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) slope[i] = penalty_ * weights[i];
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<double> p = scores(weights, rows[r]);
    const double most = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - most);
    for (double& value : p) value /= sum;
    p[static_cast<size_t>(texts[r].label)] -= 1;
    for (const auto& [word, value] : rows[r])
      for (size_t label = 0; label < classes_; ++label) slope[word * classes_ + label] += value * p[label] / static_cast<double>(rows.size());
  }
  return slope;
}

int64_t LogisticRegression::classify(std::string_view text) const { return place_of_largest(scores(weights_, row(text))); }

double chosen_penalty(const std::vector<Text>& texts) {
  const size_t cut = texts.size() - texts.size() / 10;
  if (cut == texts.size()) throw std::invalid_argument("chosen_penalty: ten texts at least");
  const std::vector<Text> fitted(texts.begin(), texts.begin() + static_cast<int64_t>(cut)), held_out(texts.begin() + static_cast<int64_t>(cut), texts.end());
  double chosen = 0, best = -1;
  for (const double penalty : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const double found = accuracy(LogisticRegression(fitted, penalty), held_out);
    if (found > best) {
      best = found;
      chosen = penalty;
    }
  }
  return chosen;
}

}  // namespace baselines
