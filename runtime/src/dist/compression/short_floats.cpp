// SPDX-License-Identifier: Apache-2.0

// Gradients of 16 bits on the wire: each rank's contribution is rounded once, the sum is formed in float32 where the backend forms it
// here (communicator.hpp), and rounded once more.

#include <cmath>
#include <stdexcept>

#include <hvd/core/float16.hpp>
#include <hvd/dist/failure.hpp>

#include "bucket_sum.hpp"

namespace hvd::dist {

namespace {

template <class Wire, class T>
void round_to(void* to, const void* from, std::size_t count) {
  Wire* out = static_cast<Wire*>(to);
  const T* in = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) out[i] = Wire(static_cast<float>(in[i]));
}

template <class Wire, class T>
void widen_to(void* to, const void* from, std::size_t count) {
  T* out = static_cast<T*>(to);
  const Wire* in = static_cast<const Wire*>(from);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(static_cast<float>(in[i]));
}

template <class Wire>
class ShortFloats final : public BucketSum {
 public:
  explicit ShortFloats(DataType wire) : wire_(wire) {}

  void sum(Communicator& comm, const CompressedBucket& bucket, int root, const OpName& name) override {
    Wire* const values = room(comm, bucket.elements);
    if (bucket.type == DataType::float64) round_to<Wire, double>(values, bucket.data, bucket.elements);
    else round_to<Wire, float>(values, bucket.data, bucket.elements);
    if (root < 0) comm.allreduce(values, bucket.elements, wire_, ReduceOp::sum, name);
    else comm.reduce(values, bucket.elements, wire_, ReduceOp::sum, root, name);
    if (root >= 0 && comm.rank() != root) return;
    if (wire_ == DataType::float16 && !bucket.loss_scaled) refuse_overflow(values, bucket);
    if (bucket.type == DataType::float64) widen_to<Wire, double>(bucket.data, values, bucket.elements);
    else widen_to<Wire, float>(bucket.data, values, bucket.elements);
  }

 private:
  // Registered with the backend, so that it sums where the values lie.
  Wire* room(Communicator& comm, std::size_t elements) {
    if (elements > elements_) {
      memory_ = comm.allocate(elements * sizeof(Wire));
      elements_ = elements;
    }
    return reinterpret_cast<Wire*>(memory_.get());
  }

  // An infinite gradient would end in parameters that are not numbers. All ranks see the same sum.
  static void refuse_overflow(const Wire* values, const CompressedBucket& bucket) {
    for (const CompressedBucket::Tensor& t : bucket.tensors)
      for (std::size_t i = 0; i < t.count; ++i)
        if (std::isinf(static_cast<float>(values[t.offset + i])))
          throw dist::Failure<std::runtime_error>("HVD_COMPRESSION=fp16: the gradient '" + *t.name + "' is infinite or beyond float16's range (65504) at element " +
                                   std::to_string(i) + " of " + std::to_string(t.count) + "; bf16 has the range of float32");
  }

  DataType wire_;
  std::shared_ptr<char> memory_;
  std::size_t elements_ = 0;
};

}  // namespace

std::unique_ptr<BucketSum> make_short_floats(DataType wire) {
  if (wire == DataType::float16) return std::make_unique<ShortFloats<Half>>(wire);
  return std::make_unique<ShortFloats<BFloat16>>(wire);
}

std::unique_ptr<BucketSum> make_bucket_sum(const CompressionRule& rule) {
  switch (rule.kind) {
    case CompressionRule::Kind::none: return nullptr;
    case CompressionRule::Kind::bfloat16: return make_short_floats(DataType::bfloat16);
    case CompressionRule::Kind::float16: return make_short_floats(DataType::float16);
    case CompressionRule::Kind::powersgd: return make_powersgd(rule.rank);
  }
  return nullptr;
}

}  // namespace hvd::dist
