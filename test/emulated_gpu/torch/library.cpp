// SPDX-License-Identifier: Apache-2.0
//
// GPUs for a LibTorch that was built without CUDA. Preloaded into a program of LibTorch, this library makes torch::cuda::is_available() true: tensors
// of cuda:0, cuda:1, ... lie in memory that the host cannot address, copies from and to locked memory run behind the host, backward passes run in
// threads of their own, and each GPU draws from a generator of its own. Operations are the host's kernels, so numbers are the host's.
#include "test/emulated_gpu/torch/copies.hpp"
#include "test/emulated_gpu/torch/generator.hpp"
#include "test/emulated_gpu/torch/memory.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <vector>

namespace emulated_torch {

namespace {

class GpuGenerator final : public c10::GeneratorImpl {
 public:
  explicit GpuGenerator(int device)
      : GeneratorImpl(c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)), c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        inner(at::make_generator<at::CPUGeneratorImpl>()) {}
  // A stream that is not the host's, also from the same seed.
  void set_current_seed(std::uint64_t seed) override {
    seed_ = seed;
    inner.set_current_seed(seed ^ 0x9e3779b97f4a7c15u);
  }
  std::uint64_t current_seed() const override { return seed_; }
  std::uint64_t seed() override {
    set_current_seed(inner.seed());
    return seed_;
  }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner.unsafeGetGeneratorImpl()->get_state(); }

  at::Generator inner;

 private:
  GeneratorImpl* clone_impl() const override {
    auto* const copy = new GpuGenerator(device().index());
    copy->seed_ = seed_;
    copy->inner = inner.clone();
    return copy;
  }
  std::uint64_t seed_ = c10::default_rng_seed_val;
};

/// A mark behind the copies asked for so far.
struct Event {
  std::uint64_t copy = 0;
  int looks = 0;
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device d) const override {
    const c10::Device before = getDevice();
    setDevice(d);
    return before;
  }
  c10::Device getDevice() const override { return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(current_device())}; }
  void setDevice(c10::Device d) const override {
    TORCH_CHECK(d.index() < deviceCount(), "CUDA error: invalid device ordinal ", d.index());
    if (d.has_index()) current_device() = d.index();
  }
  void uncheckedSetDevice(c10::Device d) const noexcept override {
    if (d.has_index()) current_device() = d.index();
  }
  c10::Stream getStream(c10::Device d) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, whole(d)); }
  c10::Stream getDefaultStream(c10::Device d) const override { return c10::Stream(c10::Stream::DEFAULT, whole(d)); }
  c10::Stream exchangeStream(c10::Stream s) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, s.device()); }
  c10::DeviceIndex deviceCount() const noexcept override { return static_cast<c10::DeviceIndex>(device_count()); }

  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    arrive();  // who waits for the event finds what has been copied to the GPU before it
    if (!*event) *event = new Event;
    *static_cast<Event*>(*event) = {last_copy(), 0};
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void* event) const override { return !event || look(static_cast<Event*>(event)->copy, static_cast<Event*>(event)->looks); }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  bool queryStream(const c10::Stream&) const override { return (finish(), true); }
  void synchronizeStream(const c10::Stream&) const override { finish(); }

 private:
  c10::Device whole(c10::Device d) const { return d.has_index() ? d : getDevice(); }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard);

const bool allocates = (c10::SetAllocator(c10::DeviceType::CUDA, &device_allocator(), 1), true);

}  // namespace

const at::Generator& default_generator(int device) {
  static auto* const all = [] {
    auto* const made = new std::vector<at::Generator>;
    for (int i = 0; i < device_count(); ++i) made->push_back(at::make_generator<GpuGenerator>(i));
    return made;
  }();
  return all->at(static_cast<std::size_t>(device < 0 ? current_device() : device));
}

at::Generator host_generator(const at::Generator& generator) {
  if (!generator.defined()) return generator;
  if (generator.device().is_cpu()) return generator;
  return static_cast<GpuGenerator*>(generator.unsafeGetGeneratorImpl())->inner;
}

}  // namespace emulated_torch

namespace at {

// The name is the one that LibTorch asks for.
struct CUDAHooks : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void initCUDA() const override {}
  const Generator& getDefaultCUDAGenerator(DeviceIndex device) const override { return emulated_torch::default_generator(device); }
  Device getDeviceFromPtr(void*) const override { return {kCUDA, static_cast<DeviceIndex>(emulated_torch::current_device())}; }
  bool isPinnedPtr(void* data) const override { return emulated_torch::is_pinned(data); }
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasPrimaryContext(int64_t) const override { return true; }
  int64_t current_device() const override { return emulated_torch::current_device(); }
  Allocator* getPinnedMemoryAllocator() const override { return &emulated_torch::pinned_allocator(); }
  Allocator* getCUDADeviceAllocator() const override { return &emulated_torch::device_allocator(); }
  std::string showConfig() const override { return "emulated GPUs"; }
  int getNumGPUs() const override { return emulated_torch::device_count(); }
  void deviceSynchronize(int64_t) const override { emulated_torch::finish(); }
};
REGISTER_CUDA_HOOKS(CUDAHooks);

}  // namespace at
