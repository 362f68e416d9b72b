// SPDX-License-Identifier: Apache-2.0
#pragma once

// HVD_CHECK=1: before every collective the ranks compare what they are about to do, and what they have found in their buffers; at
// every step they compare their parameters. A rank then stops with a message, on all ranks the same, instead of a wrong sum.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

#include "board.hpp"

namespace hvd::dist {

class Rank;

/// Ranks do not agree, or a value is not a number. The same text on all ranks, unless it is one rank's own finding.
class CheckFailed : public OperationMismatch {
 public:
  using OperationMismatch::OperationMismatch;
};

/// What a rank says of the collective that it is about to begin: plain bytes, texts cut to length.
struct CheckRecord {
  std::uint64_t number = 0;  // of the collective on this communicator, from 1
  std::uint64_t count = 0;
  std::int64_t batch = 0;  // that the rank is in, or was in last, from 1; of gradients: the one in which they came to be
  std::int64_t step = 0;   // optimizer steps begun so far; -1: not compared
  std::int32_t type = 0, root = 0, line = 0;
  std::int32_t rank = 0;  // in the job: a communicator may be over some ranks only
  char op[16] = "", name[64] = "", file[64] = "";
  char fault[160] = "";  // what this rank has found in its operand
};

/// One communicator's side of the check.
class CollectiveCheck {
 public:
  /// `rank`: says where the program is, for operations that do not say it themselves (OpName::batch).
  explicit CollectiveCheck(const Rank& rank) : rank_(rank) {}

  CheckRecord record(const char* op, const OpName& name, std::size_t count, DataType type, int root);
  /// The next operation is to report this, on all ranks.
  void report(std::string fault) { fault_ = std::move(fault); }
  /// Throws CheckFailed when the records, one of each rank, are not of the same operation, or one of them has a fault.
  static void compare(const std::vector<CheckRecord>& all);

 private:
  const Rank& rank_;
  std::uint64_t number_ = 0;
  std::string fault_;
};

/// Host memory that should be the same on all ranks.
struct CheckedTensor {
  std::string name;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
/// Throws CheckFailed on all ranks, naming the first tensor whose bytes differ and the rank that differs from most. All ranks must have
/// as many tensors. Collective.
void check_replicas(Rank& rank, const std::vector<CheckedTensor>& tensors, const OpName& name);

/// The first element that is not a number, or `count`; 0-length and integer types: `count`.
std::size_t first_nan(const void* data, std::size_t count, DataType type) noexcept;
/// "'fc.weight' (gradients) is NaN at element 3 of 200"
std::string nan_text(const char* what, const std::string& tensor, std::size_t element, std::size_t count);
/// Throws CheckFailed, on this rank alone, when an element is not a number: for what is not sent to the others.
void check_numbers(const Rank& rank, const char* what, const std::string& tensor, const void* data, std::size_t count, DataType type);

}  // namespace hvd::dist
