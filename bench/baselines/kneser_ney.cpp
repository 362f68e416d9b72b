// SPDX-License-Identifier: Apache-2.0
#include "bench/baselines/kneser_ney.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace baselines {

KneserNey::KneserNey(const std::vector<int64_t>& tokens, int64_t vocabulary, size_t order) : vocabulary_(vocabulary), levels_(order) {
  if (vocabulary < 1 || order < 1) throw std::invalid_argument("KneserNey: a vocabulary and an order of at least 1 expected");
  Context text;
  for (const int64_t token : tokens) {
    if (token < 0 || token >= vocabulary) throw std::invalid_argument("KneserNey: token " + std::to_string(token) + " is not in the vocabulary");
    text.push_back(static_cast<char32_t>(token));
  }
  for (size_t at = order - 1; at < text.size(); ++at) ++levels_.back().contexts[text.substr(at - (order - 1), order - 1)].counts[text[at]];
  // Below the highest level a follower counts once for each different token before its context.
  for (size_t n = order - 1; n > 0; --n)
    for (const auto& [context, followers] : levels_[n].contexts) {
      Followers& shorter = levels_[n - 1].contexts[context.substr(1)];
      for (const auto& [token, count] : followers.counts) ++shorter.counts[token];
    }
  for (Level& level : levels_) finish(level);
}

void KneserNey::finish(Level& level) {
  std::array<double, 4> counts_of_counts = {};
  for (auto& [context, followers] : level.contexts)
    for (const auto& [token, count] : followers.counts) {
      followers.total += count;
      ++followers.with[static_cast<size_t>(std::min<int64_t>(count, 3) - 1)];
      if (count <= 4) ++counts_of_counts[static_cast<size_t>(count - 1)];
    }
  // Too few tokens, or so many that each follower is frequent: counts of counts say nothing then.
  level.discounts.fill(0.5);
  if (std::find(counts_of_counts.begin(), counts_of_counts.end(), 0) != counts_of_counts.end()) return;
  const double y = counts_of_counts[0] / (counts_of_counts[0] + 2 * counts_of_counts[1]);
  std::array<double, 3> discounts = {};
  for (size_t i = 0; i < 3; ++i)
    discounts[i] = static_cast<double>(i + 1) - static_cast<double>(i + 2) * y * counts_of_counts[i + 1] / counts_of_counts[i];
  if (std::all_of(discounts.begin(), discounts.end(), [](double d) { return d > 0; })) level.discounts = discounts;
}

double KneserNey::probability(const std::vector<int64_t>& tokens, size_t at) const {
  double p = 1 / static_cast<double>(vocabulary_);
  Context context;
  for (size_t n = 0; n < levels_.size() && n <= at; ++n) {
    if (n > 0) context.insert(context.begin(), static_cast<char32_t>(tokens[at - n]));
    const Level& level = levels_[n];
    const auto found = level.contexts.find(context);
    if (found == level.contexts.end()) break;
    const Followers& followers = found->second;
    double kept = 0, freed = 0;
    if (const auto seen = followers.counts.find(static_cast<char32_t>(tokens[at])); seen != followers.counts.end())
      kept = static_cast<double>(seen->second) - level.discounts[static_cast<size_t>(std::min<int64_t>(seen->second, 3) - 1)];
    for (size_t i = 0; i < 3; ++i) freed += level.discounts[i] * static_cast<double>(followers.with[i]);
    p = (kept + freed * p) / static_cast<double>(followers.total);
  }
  return p;
}

double perplexity(const KneserNey& model, const std::vector<int64_t>& tokens, size_t count) {
  if (count < 1 || count >= tokens.size()) throw std::invalid_argument("perplexity: there are not " + std::to_string(count) + " tokens to predict");
  double sum = 0;
  for (size_t at = 1; at <= count; ++at) sum -= std::log(model.probability(tokens, at));
  return std::exp(sum / static_cast<double>(count));
}

}  // namespace baselines
