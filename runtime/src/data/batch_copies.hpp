// SPDX-License-Identifier: Apache-2.0
//
// Batches on their way to a GPU: workers lay them into locked memory of the host, from where the GPU fetches the next one while it computes
// with the one at hand. Two batches are on the GPU at a time: the copy of one begins when the computations with the one before the last are done.
#pragma once

#include "device/gpu_library.hpp"

#include <hvd/data/dataset.hpp>
#include <hvd/device.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace hvd::data {

class BatchCopies {
 public:
  /// Throws hvd::Error where there is no such GPU.
  explicit BatchCopies(Device device);
  /// Waits for copies that are under way.
  ~BatchCopies();
  BatchCopies(const BatchCopies&) = delete;
  BatchCopies& operator=(const BatchCopies&) = delete;

  /// Memory of the host from which the GPU copies by itself; where it may not be locked, CUDA copies it in a slower way.
  struct Block {
    explicit Block(size_t wanted);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    size_t bytes;
    void* start;
    std::shared_ptr<void> locked;
  };
  /// A tensor in locked memory, or as it is where it has no place there.
  struct Laid {
    std::unique_ptr<Block> block;
    Tensor tensor;
  };
  struct LaidBatch {
    Laid data, target;
  };

  /// By any thread.
  LaidBatch lay(Batch batch);
  /// Begins to copy; by the thread of the loop, as all below. What it returns may be used once take() has been called behind it.
  Batch begin(LaidBatch laid);
  /// Computations asked for from now on wait for all copies begun.
  void take();

  Device device() const { return device_; }

 private:
  Laid lay(const Tensor& tensor);
  Tensor begin(Laid& laid);
  std::unique_ptr<Block> block_of(size_t bytes);
  void collect();

  struct UnderWay {
    uint64_t mark;
    std::unique_ptr<Block> block;
    Tensor target;  // its memory is nobody else's before the copy has been made
  };

  Device device_;
  std::unique_ptr<backends::GpuStream> stream_;
  std::deque<UnderWay> under_way_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> free_;
};

}  // namespace hvd::data
