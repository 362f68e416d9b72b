// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/network.hpp>

namespace hvd::nn {

/// The values of a line, by key. What is missing or has another form throws hvd::Error that names the key.
class LineReader {
 public:
  LineReader(const NetworkLine& line, const std::map<std::string, int64_t>& variables);

  int64_t count(const std::string& key);
  int64_t count(const std::string& key, int64_t fallback);
  /// `3x32x32`; without a fallback the key must be there.
  std::vector<int64_t> counts(const std::string& key, std::vector<int64_t> fallback = {});
  /// `3` or `3x5`, as two numbers.
  std::vector<int64_t> pair(const std::string& key, std::vector<int64_t> fallback = {});
  double real(const std::string& key, double fallback);
  bool flag(const std::string& key, bool fallback);
  std::string word(const std::string& key, const std::vector<std::string>& known, const std::string& fallback);
  /// `a,b`; empty when the key is missing.
  std::vector<std::string> names(const std::string& key);
  /// Throws when the line has a key that nobody asked for.
  void finish() const;

 private:
  const std::string* find(const std::string& key);
  int64_t number_in(const std::string& key, const std::string& text) const;

  const NetworkLine& line_;
  const std::map<std::string, int64_t>& variables_;
  std::vector<bool> used_;
};

}  // namespace hvd::nn
