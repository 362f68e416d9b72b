// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace baselines {

/// An n-gram model with interpolated, modified Kneser-Ney smoothing (Chen and Goodman 1998), over tokens 0 ... vocabulary - 1. Its
/// discounts follow from the counts, so there is nothing to tune but the order.
class KneserNey {
 public:
  KneserNey(const std::vector<int64_t>& tokens, int64_t vocabulary, size_t order);
  /// Of `tokens[at]` after the tokens before it; the order's worth of them counts. Sums to 1 over the vocabulary.
  double probability(const std::vector<int64_t>& tokens, size_t at) const;

 private:
  using Context = std::u32string;
  struct Followers {
    std::unordered_map<char32_t, int64_t> counts;
    int64_t total = 0;
    std::array<int64_t, 3> with = {};  // tokens seen once, twice, more often
  };
  struct Level {  // contexts of one length
    std::unordered_map<Context, Followers> contexts;
    std::array<double, 3> discounts = {};  // of counts 1, 2, more
  };
  static void finish(Level& level);

  int64_t vocabulary_;
  std::vector<Level> levels_;  // level n: contexts of n tokens
};

/// exp of the mean negative log-likelihood of tokens[1] ... tokens[count].
double perplexity(const KneserNey& model, const std::vector<int64_t>& tokens, size_t count);

}  // namespace baselines
