// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>

#include <string>

#include "rewriters/dialects/dialect.h"

namespace hvdize {

/// Reads one table; core.yaml explains the format. Every error names file, line and column.
class DialectReader {
 public:
  DialectReader(llvm::StringRef yaml, llvm::StringRef fileName);
  std::unique_ptr<Dialect> read(std::string* error);

 private:
  using Node = llvm::yaml::Node;

  bool header(llvm::StringRef key, Node* at, Node* value);
  bool finish(Node* root);
  bool roles(Node* node);
  bool ops(Node* node);
  /// `scope: names`, `name: {parameters}`, `name: [{parameters}, ...]` or `name:`.
  bool entries(Node* node, const Entry& model, llvm::StringRef keys);
  bool entry(Node* at, llvm::StringRef name, Node* parameters, Entry e, llvm::StringRef keys);
  bool entriesOf(Node* at, const std::string& key, Node* value, const Entry& model, llvm::StringRef keys);
  bool parameter(Entry& e, Node* at, llvm::StringRef key, Node* value);
  bool add(Node* at, Entry e);

  std::optional<std::string> scalar(Node* node);
  bool integer(Node* node, int& value);
  bool names(Node* node, std::vector<std::string>& out);
  bool numbers(Node* node, std::vector<int>& out);
  bool fail(Node* at, const llvm::Twine& message);

  std::string fileName_;
  std::string error_;
  llvm::SourceMgr sources_;
  llvm::yaml::Stream stream_;
  std::unique_ptr<Dialect> dialect_;
};

}  // namespace hvdize
