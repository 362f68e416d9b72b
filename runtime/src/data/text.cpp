// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/text.hpp>

#include "core/tensor_impl.hpp"
#include "data/samples.hpp"
#include "io/file.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace hvd::data {

std::string read_text(const std::string& path) {
  const std::vector<uint8_t> bytes = io::read_file_or_gzip(path);
  return {bytes.begin(), bytes.end()};
}

namespace {

bool is_label(const std::string& text) {
  return !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<LabelledText> read_lines(const std::string& path) {
  std::istringstream lines(read_text(path));
  std::vector<LabelledText> out;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const size_t first = line.find('\t'), last = line.rfind('\t');
    if (first != std::string::npos && is_label(line.substr(0, first)))
      out.push_back({line.substr(first + 1), std::stoll(line.substr(0, first))});
    else if (last != std::string::npos && is_label(line.substr(last + 1)))
      out.push_back({line.substr(0, last), std::stoll(line.substr(last + 1))});
    else
      throw Error(path + ":" + std::to_string(number) + ": a label, a tab and a text expected, or a text, a tab and a label");
  }
  return out;
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, bool folders) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory() == folders && entry.path().filename() != "unsup") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<LabelledText> read_folder(const std::string& path) {
  std::vector<LabelledText> out;
  const auto classes = entries(path, true);
  for (size_t label = 0; label < classes.size(); ++label)
    for (const auto& file : entries(classes[label], false)) out.push_back({read_text(file.string()), static_cast<int64_t>(label)});
  return out;
}

}  // namespace

std::vector<LabelledText> read_labelled_texts(const std::string& path) {
  std::vector<LabelledText> out = std::filesystem::is_directory(path) ? read_folder(path) : read_lines(path);
  if (out.empty()) throw Error("'" + path + "' holds no texts with labels");
  return out;
}

namespace datasets {

namespace {

int64_t positive_length(int64_t length, const char* name) {
  if (length < 1) throw Error(std::string(name) + ": sequences of " + std::to_string(length) + " tokens");
  return length;
}

Tensor row(const std::vector<int64_t>& tokens, size_t start, int64_t length) {
  return tensor(std::vector<int64_t>(tokens.begin() + static_cast<int64_t>(start), tokens.begin() + static_cast<int64_t>(start) + length), kInt64);
}

Tensor rows_for_host(std::vector<int64_t> sizes) { return core::make_for_host(std::move(sizes), kInt64, default_device()); }
Batch on_default_device(const Batch& batch) { return {batch.data.to(default_device()), batch.target.to(default_device())}; }

}  // namespace

TokenizedTexts::TokenizedTexts(const std::vector<LabelledText>& texts, const ByteTokenizer& tokenizer, int64_t length)
    : length_(positive_length(length, "TokenizedTexts")) {
  auto tokens = std::make_shared<std::vector<int64_t>>();
  auto labels = std::make_shared<std::vector<int64_t>>();
  for (const LabelledText& text : texts) {
    std::vector<int64_t> ids = tokenizer.encode(text.text.empty() ? " " : text.text);  // a sequence of padding alone has no meaning
    for (int64_t& id : ids) ++id;
    ids.resize(static_cast<size_t>(length_), 0);
    tokens->insert(tokens->end(), ids.begin(), ids.end());
    labels->push_back(text.label);
  }
  tokens_ = std::move(tokens);
  labels_ = std::move(labels);
}

Example TokenizedTexts::get(size_t index) {
  check_index(index, size());
  return {row(*tokens_, index * static_cast<size_t>(length_), length_), tensor(Scalar((*labels_)[index]))};
}

Batch TokenizedTexts::get_batch(const std::vector<size_t>& indices) {
  const auto rows = static_cast<int64_t>(indices.size());
  const Batch batch{rows_for_host({rows, length_}), rows_for_host({rows})};
  for (int64_t r = 0; r < rows; ++r) {
    const size_t index = indices[static_cast<size_t>(r)];
    check_index(index, size());
    std::copy_n(tokens_->begin() + static_cast<int64_t>(index) * length_, length_, batch.data.data_ptr<int64_t>() + r * length_);
    batch.target.data_ptr<int64_t>()[r] = (*labels_)[index];
  }
  return on_default_device(batch);
}

TokenPieces::TokenPieces(std::vector<int64_t> tokens, int64_t length)
    : length_(positive_length(length, "TokenPieces")), tokens_(std::make_shared<const std::vector<int64_t>>(std::move(tokens))) {
  if (size() == 0) throw Error("TokenPieces: " + std::to_string(tokens_->size()) + " tokens make no piece of " + std::to_string(length_) + " and one more");
}

size_t TokenPieces::size() const { return tokens_->empty() ? 0 : (tokens_->size() - 1) / static_cast<size_t>(length_); }

Example TokenPieces::get(size_t index) {
  check_index(index, size());
  const size_t start = index * static_cast<size_t>(length_);
  return {row(*tokens_, start, length_), row(*tokens_, start + 1, length_)};
}

Batch TokenPieces::get_batch(const std::vector<size_t>& indices) {
  const auto rows = static_cast<int64_t>(indices.size());
  const Batch batch{rows_for_host({rows, length_}), rows_for_host({rows, length_})};
  for (int64_t r = 0; r < rows; ++r) {
    const size_t index = indices[static_cast<size_t>(r)];
    check_index(index, size());
    const auto start = tokens_->begin() + static_cast<int64_t>(index) * length_;
    std::copy_n(start, length_, batch.data.data_ptr<int64_t>() + r * length_);
    std::copy_n(start + 1, length_, batch.target.data_ptr<int64_t>() + r * length_);
  }
  return on_default_device(batch);
}

}  // namespace datasets
}  // namespace hvd::data
