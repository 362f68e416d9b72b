// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums raw gradient buffers over ranks, in buckets, while the caller goes on computing. Knows neither layers nor tensors of any
// framework.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/communicator.hpp>

#include "compression/bucket_sum.hpp"
#include "devices/bucket_memory.hpp"

namespace hvd::dist {

class Rank;

/// A gradient to reduce: float32 or float64.
struct GradientSpec {
  std::string name;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::size_t rows = 0;  // as a matrix: its first extent; 0: it is none
};

/// Runs the allreduces of one reducer, one after the other, on a thread and a communicator of its own.
class ReduceThread {
 public:
  struct Task {
    void* data;
    std::size_t count;
    DataType type;
    std::vector<std::function<void()>> before;  // each returns when a part of the data is there
    CallSite site;
    std::int64_t batch = -1;  // in which the data came to be
    int bucket = 0;
    int root = -1;  // takes the sum; -1: all ranks do
    std::function<void(Communicator&, const OpName&)> sum;  // how; null: as the data stands
    std::function<std::string(const void* data)> fault;  // says what is wrong with the data, or nothing; null: not asked
    int device = -1;               // that the data lies on; -1: the host
    std::shared_ptr<void> ready = nullptr;  // Place::ready
    const char* what = nullptr;    // it is called; null: as the thread's other reductions
  };

  ReduceThread(std::unique_ptr<Communicator> comm, const char* what);
  ~ReduceThread();
  ReduceThread(const ReduceThread&) = delete;
  ReduceThread& operator=(const ReduceThread&) = delete;

  /// Returns its number, from 1.
  std::uint64_t submit(Task task);
  /// Until everything submitted is done; throws what a reduction threw.
  void wait();
  /// Until task `number` and all before it are done; `what` the trace says that is waited for. Throws the same.
  void wait_for(std::uint64_t number, const char* what);
  /// Tasks done so far.
  std::uint64_t done();

 private:
  void run();

  std::unique_ptr<Communicator> comm_;
  const char* what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::uint64_t submitted_ = 0, done_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

/// The plan and the buffers. Between two calls of finish each tensor may be contributed once; buckets go out in the order of
/// the plan, each as soon as it and all before it are full. Every rank makes the same number of reductions of the same
/// sizes whatever its own contributions are.
class Reducer {
 public:
  /// Gives memory for a bucket, of so many bytes.
  using Allocate = std::function<std::shared_ptr<char>(std::size_t)>;

  /// Collective. Throws on all ranks, naming the first difference, when their lists differ. `allocate`: default that of the
  /// rank's communicator.
  /// `compression`: of the sums, which then lie on the host; weights are 0 or 1 with it.
  /// `over`: the ranks that take part, collective over them; null: all.
  /// `what`: what messages call the reductions. `gpu`: memory of the GPU that this rank's gradients lie on; buckets lie there when all ranks give such.
  Reducer(Rank& rank, std::vector<GradientSpec> specs, std::size_t bucket_bytes, Allocate allocate = {}, const char* what = "gradients",
          std::unique_ptr<BucketMemory> gpu = nullptr, const CompressionRule& compression = {}, Communicator* over = nullptr);
  ~Reducer();

  const std::vector<GradientSpec>& specs() const { return specs_; }
  /// Whether contributions and sums lie on the GPU.
  bool on_device() const { return memory_->device() >= 0; }
  /// Where in the program the reductions to come are asked for.
  void set_site(CallSite site) { site_ = site; }
  /// The sums are for this rank only, the buckets of the others hold nothing of use afterwards; -1: for all.
  void set_root(int root) { root_ = root; }
  /// Contributions of so many rounds may be on their way at once, each in memory of its own, made when it is needed: for ranks that do not
  /// take the sums, with `send`.
  void keep_rounds(std::size_t rounds) { rounds_ = rounds; }

  /// Starts a round unless one is under way; a contribution does the same.
  void begin();
  /// This rank's part of gradient `i`: scale * data. `fresh`: whether it makes the gradient one that must be written back.
  void contribute(std::size_t i, const void* data, double scale = 1, bool fresh = true);
  /// The same for a part of a weighted mean: weight * data, and the weight. Weight 0: nothing of the data counts.
  void contribute_weighted(std::size_t i, const void* data, double weight);
  /// The same for a contribution that stands in `place(i)`; `ready`, called on another thread, returns when it does.
  void arrived(std::size_t i, bool fresh = true, std::function<void()> ready = {});
  /// The memory of gradient `i` in its bucket: the contribution, after finish the sum. Shared: it may be kept beyond a new plan.
  std::shared_ptr<char> place(std::size_t i) const;
  bool contributed(std::size_t i) const { return given_[i] != 0; }
  /// Sends what is left, zeros for what this rank has not contributed, and waits for all sums.
  void finish();
  /// Sends what is left in the same way and waits for nothing, but that memory for the next round is free.
  void send();
  /// An operation of the thread that reduces, after all that it has been given so far, of batch number `batch`; returns its number. In the
  /// same order on all ranks.
  std::uint64_t submit(const char* what, std::int64_t batch, std::function<void(Communicator&, const OpName&)> operation);
  /// Until operation `number` is done; throws what one of them threw.
  void wait_for(std::uint64_t number, const char* what) {
    if (!done(number)) thread_->wait_for(number, what);
  }
  bool done(std::uint64_t number) { return thread_->done() >= number; }
  /// After finish and until the next contribution: whether some rank's contribution was fresh, and the sum.
  bool anywhere(std::size_t i) const { return weight(i) > 0; }
  /// The sum of the ranks' weights; of fresh contributions each is 1.
  double weight(std::size_t i) const;
  const void* sum(std::size_t i) const;

  /// The order in which this rank contributed in the last round; what it did not contribute comes last.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Plans anew, with the tensors in the root's order. Collective; between finish and the next contribution.
  void reorder(Rank& rank, std::vector<std::size_t> order);

  /// The tensors of a bucket, in the order in which buckets go out.
  const std::vector<std::size_t>& tensors_of(std::size_t bucket) const { return buckets_[bucket].tensors; }
  /// Reductions of one round.
  std::size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::vector<std::size_t> tensors;
    std::vector<std::shared_ptr<char>> memory;  // of rounds that may be on their way at once
    std::shared_ptr<char> data;  // that of this round: the gradients, then one weight per tensor
    std::vector<double> weights;  // of this rank; after finish the sums
    std::vector<std::function<void()>> before;
    std::size_t elements = 0;
    DataType type = DataType::float32;
    std::size_t missing = 0;
  };
  struct Location {
    std::size_t bucket, offset, weight;  // in elements
  };

  /// Returns whether all ranks have `gpu`.
  bool check_same_everywhere(Rank& rank, bool gpu) const;
  bool carried_directly() const;
  void plan(const std::vector<std::size_t>& order);
  void begin_round();
  std::size_t free_memory();
  void contribute_nothing();
  void take(std::size_t i);
  void launch_full();
  std::function<void(Communicator&, const OpName&)> compressed_sum(const Bucket& bucket) const;
  void put(std::size_t i, const void* data, double scale, double weight);
  void set_weight(std::size_t i, double weight);
  void write_weights(const Bucket& bucket);
  void read_weights(Bucket& bucket);
  std::string fault_in(const Bucket& bucket, const void* data) const;

  const Rank& rank_;
  Communicator& comm_;
  const char* what_;
  int root_ = -1;
  CallSite site_;
  std::vector<GradientSpec> specs_;
  std::size_t bucket_bytes_;
  std::unique_ptr<BucketMemory> memory_;
  std::unique_ptr<BucketSum> compression_;  // null: none; used by the thread
  std::vector<Bucket> buckets_;
  std::vector<Location> where_;
  std::vector<char> given_;
  std::vector<std::size_t> order_;
  std::size_t next_bucket_ = 0;
  std::size_t rounds_ = 1, round_ = 0;  // most that are kept at once; the memory of this one
  std::vector<std::uint64_t> sent_ = {0};  // by memory: the last task that uses it
  bool finished_ = true;
  std::unique_ptr<ReduceThread> thread_;
};

}  // namespace hvd::dist
