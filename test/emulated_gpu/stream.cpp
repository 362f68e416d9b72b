// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/stream.hpp"

#include "test/emulated_gpu/memory.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace emulated {

namespace {

/// What has been put on a stream, and how far it has come.
struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  std::uint64_t put = 0, done = 0;
  bool stop = false;

  void wait(std::uint64_t mark) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done >= mark || stop; });
  }
};

/// The marks that computations wait for.
struct Holds {
  std::mutex mutex;
  std::vector<std::pair<std::shared_ptr<Queue>, std::uint64_t>> marks;
};
Holds& holds() {
  static auto* const instance = new Holds;
  return *instance;
}

class SideStream final : public hvd::backends::GpuStream, public Stream {
 public:
  SideStream() : queue_(std::make_shared<Queue>()), thread_([this] { run(); }) {}
  ~SideStream() override {
    {
      const std::lock_guard lock(queue_->mutex);
      queue_->stop = true;
    }
    queue_->changed.notify_all();
    thread_.join();
  }

  void* handle() const override { return const_cast<Stream*>(static_cast<const Stream*>(this)); }
  void wait_for(const void*) override { waits_ = true; }
  void copy(void* to, const void* from, std::size_t bytes) override {
    enqueue([=] {
      const OpenMemory open;
      std::memcpy(to, from, bytes);
    });
  }
  std::uint64_t mark() override {
    const std::lock_guard lock(queue_->mutex);
    return mark_ = queue_->put;
  }
  bool reached(std::uint64_t mark) override {
    const std::lock_guard lock(queue_->mutex);
    return queue_->done >= mark;
  }
  void hold_computations() override {
    const std::lock_guard lock(holds().mutex);
    holds().marks.emplace_back(queue_, mark_);
  }

  void enqueue(std::function<void()> work) override {
    {
      const std::lock_guard lock(queue_->mutex);
      queue_->work.push_back(std::move(work));
      ++queue_->put;
    }
    queue_->changed.notify_all();
  }
  bool waits_for_computations() override { return std::exchange(waits_, false); }
  bool on_device(const void* data, std::size_t bytes) const override { return is_device_memory(data, bytes); }
  void copy_now(void* to, const void* from, std::size_t bytes) override {
    const OpenMemory open;
    std::memcpy(to, from, bytes);
  }

 private:
  void run() {
    std::unique_lock lock(queue_->mutex);
    for (unsigned turn = 0;; ++turn) {
      queue_->changed.wait(lock, [&] { return queue_->stop || !queue_->work.empty(); });
      if (queue_->stop) return;
      const auto work = std::move(queue_->work.front());
      queue_->work.pop_front();
      lock.unlock();
      // Now and then later than who does not wait would like.
      if (turn % 8 == 3) std::this_thread::sleep_for(std::chrono::microseconds(400));
      work();
      lock.lock();
      ++queue_->done;
      queue_->changed.notify_all();
    }
  }

  std::shared_ptr<Queue> queue_;
  std::uint64_t mark_ = 0;
  bool waits_ = false;
  std::thread thread_;  // last: it uses the queue
};

}  // namespace

std::unique_ptr<hvd::backends::GpuStream> make_stream() { return std::make_unique<SideStream>(); }

void pass_holds() {
  std::vector<std::pair<std::shared_ptr<Queue>, std::uint64_t>> marks;
  {
    const std::lock_guard lock(holds().mutex);
    marks.swap(holds().marks);
  }
  for (const auto& [queue, mark] : marks) queue->wait(mark);
}

}  // namespace emulated
