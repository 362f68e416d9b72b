// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/tokenizer.hpp>

#include "data/tokenizer_words.hpp"
#include "io/file.hpp"
#include "io/json.hpp"

#include <hvd/core/error.hpp>

#include <algorithm>
#include <sstream>
#include <unordered_set>

namespace hvd::data {

ByteTokenizer::ByteTokenizer() : of_byte_(256) {
  for (int b = 0; b < 256; ++b) {
    bytes_.push_back(std::string(1, static_cast<char>(b)));
    of_byte_[b] = b;
  }
}

void ByteTokenizer::add(Pair pair, int64_t token) {
  rank_.emplace(pair, merges_.size());
  merges_.push_back({pair, token});
}

namespace {

using Word = std::vector<int64_t>;

struct Counted {
  Word tokens;
  int64_t count;
};

std::vector<Counted> count_words(std::string_view text) {
  std::map<std::string_view, int64_t> counts;
  for (const std::string_view word : split_words(text)) ++counts[word];
  std::vector<Counted> out;
  for (const auto& [word, count] : counts) {
    Word tokens;
    for (const char c : word) tokens.push_back(static_cast<unsigned char>(c));
    out.push_back({std::move(tokens), count});
  }
  return out;
}

void join(Word& word, std::pair<int64_t, int64_t> pair, int64_t token) {
  size_t kept = 0;
  for (size_t i = 0; i < word.size(); ++kept) {
    const bool here = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    word[kept] = here ? token : word[i];
    i += here ? 2 : 1;
  }
  word.resize(kept);
}

/// How often pairs of neighbours occur, and in which words; kept up to date while pairs are joined.
class PairCounts {
 public:
  using Pair = std::pair<int64_t, int64_t>;

  explicit PairCounts(std::vector<Counted> words) : words_(std::move(words)) {
    for (size_t w = 0; w < words_.size(); ++w) change(w, 1);
  }

  /// The most frequent pair, the first in order among equals; its count.
  std::pair<Pair, int64_t> best() const {
    std::pair<Pair, int64_t> out{{}, 0};
    for (const auto& [pair, entry] : pairs_)
      if (entry.count > out.second) out = {pair, entry.count};
    return out;
  }

  void merge(Pair pair, int64_t token) {
    const std::unordered_set<size_t> in = pairs_[pair].words;
    for (const size_t w : in) {
      change(w, -1);
      join(words_[w].tokens, pair, token);
      change(w, 1);
    }
    pairs_.erase(pair);
  }

 private:
  struct Entry {
    int64_t count = 0;
    std::unordered_set<size_t> words;  // may name one that has lost the pair
  };

  void change(size_t w, int64_t sign) {
    const Word& tokens = words_[w].tokens;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      Entry& entry = pairs_[{tokens[i], tokens[i + 1]}];
      entry.count += sign * words_[w].count;
      if (sign > 0) entry.words.insert(w);
    }
  }

  std::vector<Counted> words_;
  std::map<Pair, Entry> pairs_;
};

}  // namespace

ByteTokenizer ByteTokenizer::train(std::string_view text, int64_t size) {
  if (size < 256) throw Error("tokenizer: at least 256 tokens, one for each byte; " + std::to_string(size) + " asked for");
  ByteTokenizer out;
  PairCounts counts(count_words(text));
  while (out.size() < size) {
    const auto [pair, count] = counts.best();
    if (count < 2) break;
    const int64_t token = out.size();
    out.bytes_.push_back(out.bytes_[pair.first] + out.bytes_[pair.second]);
    out.add(pair, token);
    counts.merge(pair, token);
  }
  return out;
}

std::vector<int64_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> out;
  std::unordered_map<std::string_view, Word> known;  // words come again
  for (const std::string_view word : split_words(text)) {
    auto [entry, fresh] = known.try_emplace(word);
    Word& tokens = entry->second;
    if (fresh) {
      for (const char c : word) tokens.push_back(of_byte_[static_cast<unsigned char>(c)]);
      for (;;) {
        size_t best = merges_.size();
        for (size_t i = 0; i + 1 < tokens.size(); ++i) {
          const auto found = rank_.find({tokens[i], tokens[i + 1]});
          if (found != rank_.end()) best = std::min(best, found->second);
        }
        if (best == merges_.size()) break;
        join(tokens, merges_[best].first, merges_[best].second);
      }
    }
    out.insert(out.end(), tokens.begin(), tokens.end());
  }
  return out;
}

std::string ByteTokenizer::decode(const std::vector<int64_t>& tokens) const {
  std::string out;
  for (const int64_t token : tokens) {
    if (token < 0 || token >= size()) throw Error("tokenizer: " + std::to_string(token) + " is none of " + std::to_string(size()) + " tokens");
    out += bytes_[token];
  }
  return out;
}

namespace {

std::string written(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) out += byte_as_character(static_cast<unsigned char>(c));
  return out;
}

std::string text_of(const std::string& path) {
  const std::vector<uint8_t> bytes = io::read_file_or_gzip(path);
  return {bytes.begin(), bytes.end()};
}

void write_text(const std::string& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace

void ByteTokenizer::save(const std::string& vocab_path, const std::string& merges_path) const {
  std::string vocab = "{", merges = "#version: 0.2\n";
  for (size_t i = 0; i < bytes_.size(); ++i) vocab += (i ? ", " : "") + io::to_json(written(bytes_[i])) + ": " + std::to_string(i);
  for (const auto& [pair, token] : merges_) merges += written(bytes_[pair.first]) + " " + written(bytes_[pair.second]) + "\n";
  write_text(vocab_path, vocab + "}\n");
  write_text(merges_path, merges);
}

ByteTokenizer ByteTokenizer::load(const std::string& vocab_path, const std::string& merges_path) {
  const auto refuse = [](const std::string& path, const std::string& why) -> void { throw Error("tokenizer: '" + path + "': " + why); };
  io::Json vocab;
  try {
    vocab = io::parse_json(text_of(vocab_path));
  } catch (const Error& error) {
    refuse(vocab_path, error.what());
  }
  if (vocab.kind != io::Json::Kind::object) refuse(vocab_path, "an object of tokens and numbers expected");
  ByteTokenizer out;
  out.bytes_.assign(vocab.members.size(), "");
  out.of_byte_.assign(256, -1);
  std::vector<bool> seen(vocab.members.size(), false);
  std::unordered_map<std::string, int64_t> number;
  for (const auto& [token, value] : vocab.members) {
    uint64_t at = 0;
    if (!value.to_unsigned(at) || at >= seen.size() || seen[at]) refuse(vocab_path, "token '" + token + "' has no number of its own below " + std::to_string(seen.size()));
    seen[at] = true;
    // Special tokens such as <|endoftext|> are made of other characters; they stand for themselves.
    if (!characters_as_bytes(token, out.bytes_[at])) out.bytes_[at] = token;
    number.emplace(token, static_cast<int64_t>(at));
    if (out.bytes_[at].size() == 1) out.of_byte_[static_cast<unsigned char>(out.bytes_[at][0])] = static_cast<int64_t>(at);
  }
  for (int b = 0; b < 256; ++b)
    if (out.of_byte_[b] < 0) refuse(vocab_path, "no token for byte " + std::to_string(b));
  std::istringstream lines(text_of(merges_path));
  int line = 0;
  for (std::string text; std::getline(lines, text);) {
    ++line;
    if (text.empty() || text.rfind("#version", 0) == 0) continue;
    const size_t blank = text.find(' ');
    const auto first = number.find(text.substr(0, blank)), second = number.find(blank == std::string::npos ? "" : text.substr(blank + 1));
    const auto whole = blank == std::string::npos ? number.end() : number.find(text.substr(0, blank) + text.substr(blank + 1));
    if (first == number.end() || second == number.end() || whole == number.end())
      refuse(merges_path + ":" + std::to_string(line), "'" + text + "' is no pair of tokens that make a token");
    out.add({first->second, second->second}, whole->second);
  }
  return out;
}

}  // namespace hvd::data
