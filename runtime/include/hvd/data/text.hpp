// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/tokenizer.hpp>
#include <hvd/data/transforms.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hvd::data {

/// A whole text file (plain or .gz).
std::string read_text(const std::string& path);

struct LabelledText {
  std::string text;
  int64_t label = 0;
};

/// Texts with a class each: from a file of lines "label TAB text" or "text TAB label", labels from 0 (plain or .gz), or from a folder
/// whose sub-folders are the classes in alphabetical order, a text to a file (IMDB: neg, pos; sub-folders named unsup are passed over).
/// What has not this form throws hvd::Error with the file and the line.
std::vector<LabelledText> read_labelled_texts(const std::string& path);

namespace datasets {

/// Texts as sequences of `length` tokens: data [length] (int64), the tokens plus 1, cut off or filled up with 0; target: the label.
/// An empty text counts as a blank.
class TokenizedTexts : public Mappable<TokenizedTexts> {
 public:
  TokenizedTexts(const std::vector<LabelledText>& texts, const ByteTokenizer& tokenizer, int64_t length);
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override { return labels_->size(); }

 private:
  int64_t length_;
  std::shared_ptr<const std::vector<int64_t>> tokens_;  // rows of length_
  std::shared_ptr<const std::vector<int64_t>> labels_;
};

/// A sequence of tokens cut into pieces: sample i holds tokens i length ... (i + 1) length - 1 as data [length] and those one further on
/// as target [length]. What does not fill a piece is left out; fewer tokens than one piece throw hvd::Error.
class TokenPieces : public Mappable<TokenPieces> {
 public:
  TokenPieces(std::vector<int64_t> tokens, int64_t length);
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override;

 private:
  int64_t length_;
  std::shared_ptr<const std::vector<int64_t>> tokens_;
};

}  // namespace datasets
}  // namespace hvd::data
