// SPDX-License-Identifier: Apache-2.0

// PowerSGD (Vogels, Karimireddy and Jaggi 2019, "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization"): of a
// gradient that is a matrix of m rows and n columns travel two of r columns, P and Q, in place of m * n numbers.

#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "bucket_sum.hpp"
#include "small_rank.hpp"

namespace hvd::dist {

namespace {

/// What is kept of a tensor between its sums.
template <class T>
struct Kept {
  Vectors<T> q;          // where the power iteration goes on; the same on all ranks
  std::vector<T> error;  // of this rank's gradients, what has not been sent yet
  std::uint64_t rounds = 0;
};

/// A tensor of the bucket that is being summed.
template <class T>
struct Matrix {
  const CompressedBucket::Tensor* tensor;
  std::size_t weight;  // where it is, in the first message
  Kept<T>* kept;
  T* values;
  Vectors<T> p, own_q, q;
  bool counts = false, finite = false;

  std::size_t rows() const { return tensor->rows; }
  std::size_t columns() const { return tensor->count / tensor->rows; }
};

/// Each rank adds to its gradient what it has not sent before (error feedback), M = G + E, and with Q the same on all ranks:
///   P = sum over ranks of M Q, orthonormalised;   Q = sum over ranks of M^T P;   the sum of gradients is taken to be P Q^T.
/// What this rank has sent of M is P P^T M, and E becomes the rest: what all ranks have sent and what they have kept is, added up, all that
/// they were given. (The authors keep M minus the mean that all get; the sum over ranks is the same.) Vectors, and matrices that would not
/// become smaller, travel as they are. Two messages for a bucket: the first has P, those, and the weights.
///
/// Where no rank has a new gradient nothing has been sent, and E stays. Where a rank's gradient is not finite, so is nothing of the sum, and E
/// stays, for it would never become finite again.
class PowerSgd final : public BucketSum {
 public:
  explicit PowerSgd(int rank) : rank_(static_cast<std::size_t>(rank)) {}

  // A server's workers need the sums as well: P of all for their part of Q, and Q for the next step.
  void sum(Communicator& comm, const CompressedBucket& bucket, int, const OpName& name) override {
    if (bucket.loss_scaled)
      throw dist::Failure<Error>("HVD_COMPRESSION=powersgd: what a rank has not sent is kept for the next step, where a GradScaler may have another scale; "
                  "run this program with HVD_COMPRESSION=bf16");
    if (bucket.type == DataType::float64) sum_as<double>(comm, bucket, name);
    else sum_as<float>(comm, bucket, name);
  }

 private:
  template <class T>
  using States = std::map<std::size_t, Kept<T>>;

  bool pays(const CompressedBucket::Tensor& t) const {
    return t.rows > 0 && t.count > 0 && (t.rows + t.count / t.rows) * rank_ < t.count;
  }

  template <class T>
  Kept<T>& kept(const CompressedBucket::Tensor& t) {
    Kept<T>& state = std::get<States<T>>(states_)[t.index];
    if (state.error.size() != t.count) {
      state = {Vectors<T>(rank_, t.count / t.rows), std::vector<T>(t.count), 0};
      orthonormalise_or_draw(state.q, t.index);
    }
    return state;
  }

  template <class T>
  void sum_as(Communicator& comm, const CompressedBucket& bucket, const OpName& name) {
    std::vector<Matrix<T>> matrices;
    std::vector<T> message = first_message(bucket, matrices);
    comm.allreduce(message.data(), message.size(), bucket.type, ReduceOp::sum, name);
    take_plain(bucket, matrices, message);
    message = second_message(matrices);
    if (!message.empty()) comm.allreduce(message.data(), message.size(), bucket.type, ReduceOp::sum, name);
    const T* from = message.data();
    for (Matrix<T>& m : matrices) {
      m.q.values.assign(from, from + m.q.values.size());
      from += m.q.values.size();
      finish(m);
    }
  }

  // Plain gradients and the weights as in the bucket, then the P of the matrices.
  template <class T>
  std::vector<T> first_message(const CompressedBucket& bucket, std::vector<Matrix<T>>& matrices) {
    T* const data = static_cast<T*>(bucket.data);
    std::vector<T> message;
    for (const CompressedBucket::Tensor& t : bucket.tensors)
      if (!pays(t)) message.insert(message.end(), data + t.offset, data + t.offset + t.count);
    const std::size_t weights = message.size();
    message.insert(message.end(), data + bucket.weights_at(), data + bucket.elements);
    for (std::size_t k = 0; k < bucket.tensors.size(); ++k) {
      const CompressedBucket::Tensor& t = bucket.tensors[k];
      if (!pays(t)) continue;
      Kept<T>& state = kept<T>(t);
      Matrix<T> m{&t, weights + k, &state, data + t.offset, Vectors<T>(rank_, t.rows), Vectors<T>(rank_, t.count / t.rows),
                  Vectors<T>(rank_, t.count / t.rows)};
      for (std::size_t i = 0; i < t.count; ++i) m.values[i] += state.error[i];
      multiply(m.values, t.rows, state.q, m.p);
      message.insert(message.end(), m.p.values.begin(), m.p.values.end());
      matrices.push_back(std::move(m));
    }
    return message;
  }

  template <class T>
  void take_plain(const CompressedBucket& bucket, std::vector<Matrix<T>>& matrices, const std::vector<T>& message) {
    T* const data = static_cast<T*>(bucket.data);
    const T* from = message.data();
    for (const CompressedBucket::Tensor& t : bucket.tensors) {
      if (pays(t)) continue;
      if (t.count) std::memcpy(data + t.offset, from, t.count * sizeof(T));
      from += t.count;
    }
    std::memcpy(data + bucket.weights_at(), from, bucket.tensors.size() * sizeof(T));
    from += bucket.tensors.size();
    for (Matrix<T>& m : matrices) {
      m.counts = message[m.weight] > 0;
      m.p.values.assign(from, from + m.p.values.size());
      from += m.p.values.size();
    }
  }

  // The Q of the matrices; zeros for those of which nothing is to come. All ranks see the same P, and decide alike.
  template <class T>
  std::vector<T> second_message(std::vector<Matrix<T>>& matrices) {
    std::vector<T> message;
    for (Matrix<T>& m : matrices) {
      m.finite = all_finite(m.p.values);
      if (m.counts && m.finite) {
        orthonormalise(m.p);
        multiply_transposed(m.values, m.rows(), m.p, m.own_q);
      }
      message.insert(message.end(), m.own_q.values.begin(), m.own_q.values.end());
    }
    return message;
  }

  template <class T>
  void finish(Matrix<T>& m) {
    Kept<T>& state = *m.kept;
    m.finite = m.finite && all_finite(m.q.values);
    const std::size_t count = m.tensor->count;
    if (!m.counts || !m.finite) {
      const T nothing = m.counts ? std::numeric_limits<T>::quiet_NaN() : T(0);
      for (std::size_t i = 0; i < count; ++i) m.values[i] = nothing;
      return;
    }
    outer_sum(m.p, m.own_q, state.error.data());
    for (std::size_t i = 0; i < count; ++i) state.error[i] = m.values[i] - state.error[i];
    outer_sum(m.p, m.q, m.values);
    state.q = std::move(m.q);
    orthonormalise_or_draw(state.q, m.tensor->index + 1000003 * ++state.rounds);
  }

  std::size_t rank_;
  std::tuple<States<float>, States<double>> states_;
};

}  // namespace

std::unique_ptr<BucketSum> make_powersgd(int rank) { return std::make_unique<PowerSgd>(rank); }

}  // namespace hvd::dist
