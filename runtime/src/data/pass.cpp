// SPDX-License-Identifier: Apache-2.0
#include "pass.hpp"

#include "data/batch_copies.hpp"
#include "device/device.hpp"
#include "streams.hpp"

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace hvd::data {

namespace {

/// Samples are read and transformed on the host, whatever the default device.
class OnHost {
 public:
  OnHost() : device_(context().default_device) { ContextSettings().apply(); }
  ~OnHost() { context().default_device = device_; }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

 private:
  Device device_;
};

/// What the loop gets: on the default device where that is a GPU; else where the data set has it.
Batch delivered(Batch batch) {
  const Device device = default_device();
  if (backends::backend(device).host_memory()) return batch;
  const NoGradGuard no_grad;
  return {batch.data.defined() ? batch.data.to(device) : batch.data, batch.target.defined() ? batch.target.to(device) : batch.target};
}

Batch fetch(Dataset& dataset, PassPlan& plan, size_t k) {
  BatchIndices& batch = plan.batches[k];
  if (plan.cut) batch = plan.cut(batch.indices, k);
  const OnHost on_host;
  const ScopedDraws draws({plan.stream_seed, plan.first_sample[k] * kDrawsPerSample}, &batch.slice);
  return dataset.get_batch(batch.indices);
}

class InlinePass : public Pass {
 public:
  InlinePass(std::shared_ptr<Dataset> dataset, PassPlan plan) : dataset_(std::move(dataset)), plan_(std::move(plan)) {}

  bool advance() override {
    batch_ = {};
    if (next_ == plan_.batches.size()) return false;
    batch_ = delivered(fetch(*dataset_, plan_, next_));
    ++next_;
    return true;
  }
  Batch& batch() override { return batch_; }
  const Slice& slice() const override { return plan_.batches[next_ - 1].slice; }

 private:
  std::shared_ptr<Dataset> dataset_;
  PassPlan plan_;
  size_t next_ = 0;
  Batch batch_;
};

class WorkerPass : public Pass {
 public:
  WorkerPass(std::shared_ptr<Dataset> dataset, PassPlan plan, const DataLoaderOptions& options)
      : dataset_(std::move(dataset)), plan_(std::move(plan)), made_(plan_.batches.size()) {
    ahead_ = options.prefetch() > 0 ? options.prefetch() : 2 * options.workers();
    const Device device = default_device();
    if (!backends::backend(device).host_memory()) copies_ = std::make_unique<BatchCopies>(device);
    const size_t count = std::min(options.workers(), plan_.batches.size());
    for (size_t i = 0; i < count; ++i) workers_.emplace_back([this, settings = ContextSettings()](std::stop_token stop) { work(stop, settings); });
  }
  // Asks all workers to stop before the first join, so that they end side by side.
  ~WorkerPass() override {
    for (std::jthread& worker : workers_) worker.request_stop();
  }

  bool advance() override {
    batch_ = {};
    if (next_ == made_.size()) return false;
    Begun now = begun_ ? std::move(*begun_) : begin(taken(next_));
    begun_.reset();
    {
      const std::lock_guard lock(mutex_);
      ++next_;
    }
    changed_.notify_all();
    if (now.error) std::rethrow_exception(now.error);
    if (copies_) copies_->take();
    batch_ = delivered(std::move(now.batch));
    if (copies_ && next_ < made_.size() && is_made(next_)) begun_ = begin(taken(next_));
    return true;
  }
  Batch& batch() override { return batch_; }
  const Slice& slice() const override { return plan_.batches[next_ - 1].slice; }

 private:
  struct Made {
    bool ready = false;
    Batch batch;
    BatchCopies::LaidBatch laid;  // in its place where the loop is on a GPU
    std::exception_ptr error;
  };
  /// A batch that the loop takes now or next, perhaps still on its way to the GPU.
  struct Begun {
    Batch batch;
    std::exception_ptr error;
  };

  bool is_made(size_t k) {
    const std::lock_guard lock(mutex_);
    return made_[k].ready;
  }
  /// Batch k, as soon as it has been made.
  Made taken(size_t k) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return made_[k].ready; });
    return std::exchange(made_[k], {});
  }
  Begun begin(Made made) {
    try {
      if (copies_ && !made.error) made.batch = copies_->begin(std::move(made.laid));
    } catch (...) {
      made.error = std::current_exception();  // said when the loop takes the batch
    }
    return {std::move(made.batch), made.error};
  }

  void work(const std::stop_token& stop, const ContextSettings& settings) {
    settings.apply();
    context().one_thread = true;
    std::unique_lock lock(mutex_);
    const auto may_start = [&] { return claimed_ == made_.size() || claimed_ < next_ + ahead_; };
    while (changed_.wait(lock, stop, may_start) && claimed_ < made_.size()) {
      const size_t k = claimed_++;
      lock.unlock();
      Made made = make(k);
      lock.lock();
      made_[k] = std::move(made);
      changed_.notify_all();
      if (stop.stop_requested()) return;
    }
  }

  Made make(size_t k) {
    Made made;
    made.ready = true;
    try {
      Batch batch = fetch(*dataset_, plan_, k);
      if (copies_)
        made.laid = copies_->lay(std::move(batch));
      else
        made.batch = std::move(batch);
    } catch (...) {
      made.error = std::current_exception();
    }
    return made;
  }

  std::shared_ptr<Dataset> dataset_;
  PassPlan plan_;
  size_t ahead_ = 0;
  std::unique_ptr<BatchCopies> copies_;  // null where the loop takes batches as they are
  Batch batch_;
  std::optional<Begun> begun_;  // the batch behind the current one
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Made> made_;  // by number of batch; emptied when the loop takes it
  size_t next_ = 0;         // the batch the loop takes next
  size_t claimed_ = 0;      // the batch a worker makes next
  std::vector<std::jthread> workers_;  // last: their end comes before that of what they use
};

}  // namespace

std::unique_ptr<Pass> start_pass(std::shared_ptr<Dataset> dataset, PassPlan plan, const DataLoaderOptions& options) {
  if (options.workers() == 0) return std::make_unique<InlinePass>(std::move(dataset), std::move(plan));
  return std::make_unique<WorkerPass>(std::move(dataset), std::move(plan), options);
}

}  // namespace hvd::data
