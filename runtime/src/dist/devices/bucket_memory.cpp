// SPDX-License-Identifier: Apache-2.0
#include "bucket_memory.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "device/gpu_library.hpp"
#include "transport.hpp"

namespace hvd::dist {

namespace {

class HostBuckets final : public BucketMemory {
 public:
  explicit HostBuckets(std::function<std::shared_ptr<char>(std::size_t)> allocate) : allocate_(std::move(allocate)) {}

  std::shared_ptr<char> allocate(std::size_t bytes) override { return allocate_(bytes); }
  void put(void* to, const void* from, std::size_t count, DataType type, double scale) override {
    if (!from) std::memset(to, 0, count * size_of(type));
    else if (scale == 1) std::memcpy(to, from, count * size_of(type));
    else if (type == DataType::float32) put_scaled<float>(to, from, count, scale);
    else put_scaled<double>(to, from, count, scale);
  }
  void write(void* to, const void* host, std::size_t bytes) override { std::memcpy(to, host, bytes); }
  void read(void* host, const void* from, std::size_t bytes) override { std::memcpy(host, from, bytes); }

 private:
  template <class T>
  static void put_scaled(void* to, const void* from, std::size_t count, double scale) {
    for (std::size_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = static_cast<T>(static_cast<const T*>(from)[i] * scale);
  }

  std::function<std::shared_ptr<char>(std::size_t)> allocate_;
};

class DeviceBuckets final : public BucketMemory {
 public:
  explicit DeviceBuckets(const backends::Backend& gpu) : gpu_(gpu), device_(backends::require_gpu().device()) {}

  int device() const override { return device_; }
  // Device memory also where tensors lie in another kind: it is what NCCL is quickest with.
  std::shared_ptr<char> allocate(std::size_t bytes) override {
    Allocator& memory = backends::require_gpu().allocator(MemoryKind::kDevice);
    return {static_cast<char*>(memory.allocate(bytes)), [&memory, bytes](char* p) { memory.release(p, bytes); }};
  }
  void put(void* to, const void* from, std::size_t count, DataType type, double scale) override {
    const Dtype dtype = type == DataType::float32 ? Dtype::kFloat32 : Dtype::kFloat64;
    const auto n = static_cast<std::int64_t>(count);
    if (!from) gpu_.fill(to, dtype, n, Scalar(0.0));
    else if (scale == 1) copy_on_device(to, from, count * size_of(type));
    else gpu_.unary(backends::Unary::kMul, dtype, n, from, to, Scalar(scale), Scalar(0.0));
  }
  void write(void* to, const void* host, std::size_t bytes) override { copy_to_device(to, host, bytes); }
  void read(void* host, const void* from, std::size_t bytes) override { copy_to_host(host, from, bytes); }
  std::shared_ptr<void> ready() override { return backends::require_gpu().note_computations(); }

 private:
  const backends::Backend& gpu_;
  int device_;
};

}  // namespace

std::unique_ptr<BucketMemory> make_host_buckets(std::function<std::shared_ptr<char>(std::size_t)> allocate) {
  return std::make_unique<HostBuckets>(std::move(allocate));
}

std::unique_ptr<BucketMemory> make_device_buckets(const backends::Backend& gpu) { return std::make_unique<DeviceBuckets>(gpu); }

}  // namespace hvd::dist
