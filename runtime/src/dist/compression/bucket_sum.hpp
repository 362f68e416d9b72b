// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a bucket of gradients is summed over ranks in fewer bytes than it has. Knows buffers, no tensors of a framework.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

#include "rule.hpp"

namespace hvd::dist {

/// A bucket in host memory, float32 or float64: the tensors' gradients, then one weight for each of them, in the same order.
struct CompressedBucket {
  struct Tensor {
    std::size_t index;   // of all tensors: the same in every plan
    std::size_t offset;  // in elements
    std::size_t count;
    std::size_t rows;  // as a matrix of count / rows columns; 0: it is none
    const std::string* name;
  };
  void* data = nullptr;
  std::size_t elements = 0;  // with the weights
  DataType type = DataType::float32;
  std::vector<Tensor> tensors;
  bool loss_scaled = false;  // what is not finite is the business of a loss scaler

  std::size_t weights_at() const { return elements - tensors.size(); }
};

/// One reducer's way. State of it belongs to tensors, by their index, and outlives plans.
class BucketSum {
 public:
  virtual ~BucketSum() = default;
  /// Puts the sum over ranks in the place of the bucket; the same bits on all ranks. Weights that are positive on some rank come out
  /// positive, and zero where they are zero on all; no more is known of them. `root`: needs the sum alone, on the others the content is
  /// unspecified afterwards; -1: all. Collective.
  virtual void sum(Communicator& comm, const CompressedBucket& bucket, int root, const OpName& name) = 0;
};

/// Null for a rule that leaves gradients as they are.
std::unique_ptr<BucketSum> make_bucket_sum(const CompressionRule& rule);

/// Sums in bfloat16 or float16 on the wire.
std::unique_ptr<BucketSum> make_short_floats(DataType wire);
/// PowerSGD with matrices of this rank.
std::unique_ptr<BucketSum> make_powersgd(int rank);

}  // namespace hvd::dist
