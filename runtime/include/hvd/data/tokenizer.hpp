// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hvd::data {

/// Byte-level byte-pair encoding (Sennrich et al. 2016; the form of GPT-2): any text becomes tokens and back, byte by byte. A text
/// is cut into words first (letters, digits, other characters, white space; a blank goes with what follows it), and pairs are joined
/// within words only. Bytes beyond ASCII count as letters.
class ByteTokenizer {
 public:
  /// The 256 bytes, no pairs: token i is byte i.
  ByteTokenizer();
  /// Joins the most frequent pair of neighbours in `text`, the first in order of tokens among equals, until there are `size` tokens or
  /// no pair occurs twice. size < 256 throws hvd::Error.
  static ByteTokenizer train(std::string_view text, int64_t size);
  /// Files of GPT-2: vocab.json (tokens to numbers) and merges.txt (a pair a line, the first one first). A file that is not of this
  /// form throws hvd::Error with the file and the line or token.
  static ByteTokenizer load(const std::string& vocab_path, const std::string& merges_path);
  /// Writes such files.
  void save(const std::string& vocab_path, const std::string& merges_path) const;

  std::vector<int64_t> encode(std::string_view text) const;
  /// A number that is no token throws hvd::Error.
  std::string decode(const std::vector<int64_t>& tokens) const;
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }

 private:
  using Pair = std::pair<int64_t, int64_t>;
  void add(Pair pair, int64_t token);

  std::vector<std::string> bytes_;           // of each token
  std::vector<int64_t> of_byte_;             // the token of each byte
  std::vector<std::pair<Pair, int64_t>> merges_;  // in the order in which they are done, with the token they give
  std::map<Pair, size_t> rank_;              // place in merges_
};

}  // namespace hvd::data
