// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include "file.hpp"

#include <map>
#include <string>

namespace hvd::io {

/// Where a tensor lies in a safetensors file.
struct TensorEntry {
  Dtype dtype;
  std::vector<int64_t> shape;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;
};

/// A safetensors file whose header has been read and checked: every tensor lies inside the file, has a dtype of this library,
/// and fills its place; tensors follow each other without gaps. hvd::Error otherwise, naming file and tensor.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Reads one of tensors().
  Tensor read(const TensorEntry& entry) const;

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void read_header();
  TensorEntry read_entry(const std::string& name, const struct Json& value, uint64_t data_start) const;
  void check_layout(uint64_t data_start) const;

  InputFile file_;
  std::map<std::string, TensorEntry> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Writes such a file, whole or not at all.
void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors, const std::map<std::string, std::string>& metadata);

}  // namespace hvd::io
