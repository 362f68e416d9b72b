// SPDX-License-Identifier: Apache-2.0
//
// Reader of the safetensors format: 8 bytes little-endian header length, a JSON header, raw values
// (https://huggingface.co/docs/safetensors, section Format).
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace hvdize::compare {

struct TensorEntry {
  std::string dtype;  ///< F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL and the unsigned ones
  std::vector<int64_t> shape;
  size_t begin = 0, end = 0;  ///< bytes in `Checkpoint::data`

  bool isFloating() const { return dtype == "F64" || dtype == "F32" || dtype == "F16" || dtype == "BF16"; }
};

struct Checkpoint {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
  std::string data;  ///< what follows the header
  /// The format holds addresses or the like: two runs of one program write other bytes.
  bool bytesVary = false;
};

struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Number of bytes of one value; 0 for an unknown type.
size_t bytesOf(const std::string& dtype);

/// The values of a tensor as float64, exact for all floating types and for integers up to 2^53.
std::vector<double> valuesOf(const Checkpoint& checkpoint, const TensorEntry& entry);

/// Whether the content of a file looks like safetensors (a header length that fits, then '{').
bool looksLikeSafetensors(const std::string& content);

/// Reads the content of a file. Throws CheckpointError that names the tensor and what is wrong: a truncated file, a header that
/// is not JSON, an unknown type, a shape that does not fit its bytes.
Checkpoint parseSafetensors(const std::string& content);

}  // namespace hvdize::compare
