// SPDX-License-Identifier: Apache-2.0
//
// Devices of GPUs beyond single operations: memory, copies, draws, training. Skipped where there is no GPU; with the emulated one
// (HVD_CUDA_LIBRARY) they run on the host, and a read of the device's memory by the host ends the program.
#include "device/caching_allocator.hpp"
#include "device/gpu_library.hpp"

#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace gpu_devices_test {
namespace {

using hvd::MemoryKind;
using hvd::Tensor;
using hvd::TensorOptions;

class GpuDevices : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  }
  hvd::Device device() const { return GetParam(); }
  Tensor drawn(std::vector<int64_t> shape, hvd::Dtype dtype = hvd::kFloat32) const {
    return hvd::empty(shape, TensorOptions(dtype).device(hvd::kCPU)).normal_();
  }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuDevices, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

TEST_P(GpuDevices, CopiesOfAllDtypesAreExact) {
  for (hvd::Dtype from : {hvd::kFloat32, hvd::kFloat64, hvd::kInt64, hvd::kBool, hvd::kBFloat16, hvd::kFloat16})
    for (hvd::Dtype to : {hvd::kFloat32, hvd::kFloat64, hvd::kInt64, hvd::kBool, hvd::kBFloat16, hvd::kFloat16}) {
      const Tensor values = (drawn({5, 7}) * 3).to(from), there = values.to(device(), to);
      EXPECT_EQ(there.device(), device());
      EXPECT_TRUE(hvd::equal(there.cpu(), values.to(to))) << from << " to " << to;
      EXPECT_TRUE(hvd::equal(values.to(device()).to(hvd::kCPU, to), values.to(to))) << from << " to " << to;
    }
}

// A stream of communication goes on by itself, and computations find what it is told to let them wait for.
TEST_P(GpuDevices, StreamsBesideComputationsEnd) {
  const hvd::backends::GpuLibrary& gpu = hvd::backends::require_gpu();
  EXPECT_GE(gpu.device(), 0);
  EXPECT_NE(gpu.identity(), "");
  const auto stream = gpu.make_stream();
  EXPECT_NE(stream->handle(), nullptr);
  Tensor values = hvd::zeros({1 << 20}, TensorOptions(hvd::kFloat32).device(device()));
  for (int round = 0; round < 3; ++round) {
    values.add_(1);
    const auto noted = gpu.note_computations();
    stream->wait_for(round == 0 ? nullptr : noted.get());
    float value = 0;
    const auto pinned = gpu.pin(&value, sizeof value);
    stream->copy(&value, values.data_ptr<float>(), sizeof value);
    const uint64_t mark = stream->mark();
    const auto begin = std::chrono::steady_clock::now();
    while (!stream->reached(mark)) ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(value, round + 1);
    stream->hold_computations();
  }
  EXPECT_EQ(values.sum().item<float>(), 3 * (1 << 20));
}

TEST_P(GpuDevices, CopiesLargerThanTheStagingBuffers) {
  const Tensor values = drawn({3 << 20}), there = values.to(device());
  EXPECT_TRUE(hvd::equal(there.cpu(), values));
}

TEST_P(GpuDevices, ViewsAreCopiedAcrossDevices) {
  const Tensor values = drawn({4, 6}), there = hvd::zeros({6, 4}, TensorOptions(hvd::kFloat32).device(device()));
  there.copy_(values.t());
  EXPECT_TRUE(hvd::equal(there.cpu(), values.t().contiguous()));
  there.narrow(1, 1, 2).copy_(drawn({2}).mul_(0).add_(5));
  EXPECT_EQ(there.narrow(1, 1, 2).sum().item<float>(), 60);
  EXPECT_TRUE(hvd::equal(there.narrow(1, 3, 1).cpu(), values.t().narrow(1, 3, 1).contiguous()));
}

TEST_P(GpuDevices, DrawsHaveTheBitsOfTheHost) {
  const auto both = [&](auto draw, hvd::Dtype dtype) {
    hvd::manual_seed(7);
    const Tensor here = draw(hvd::empty({1000}, TensorOptions(dtype).device(hvd::kCPU)));
    hvd::manual_seed(7);
    const Tensor there = draw(hvd::empty({1000}, TensorOptions(dtype).device(device())));
    return std::pair(here, there.cpu());
  };
  for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64, hvd::kBFloat16, hvd::kFloat16}) {
    const auto [here, there] = both([](const Tensor& t) { return t.uniform_(-0.3, 1.7); }, dtype);
    EXPECT_TRUE(hvd::equal(here, there)) << dtype;
  }
  // Logarithm, sine and cosine of two libraries: the last bit of float64 may differ.
  const auto [here, there] = both([](const Tensor& t) { return t.normal_(0.5, 2); }, hvd::kFloat64);
  EXPECT_LT(core_tests::difference(there, here), 1e-14);
  hvd::manual_seed(7);
  const Tensor numbers = hvd::randint(-5, 1000, {1000}, TensorOptions(hvd::kInt64).device(hvd::kCPU));
  hvd::manual_seed(7);
  EXPECT_TRUE(hvd::equal(hvd::randint(-5, 1000, {1000}, TensorOptions(hvd::kInt64).device(device())).cpu(), numbers));
  const Tensor ones = hvd::ones({1001}, TensorOptions(hvd::kFloat32).device(hvd::kCPU));
  hvd::manual_seed(7);
  const Tensor kept = hvd::dropout(ones, 0.4, true);
  hvd::manual_seed(7);
  EXPECT_TRUE(hvd::equal(hvd::dropout(ones.to(device()), 0.4, true).cpu(), kept));
}

TEST_P(GpuDevices, EveryKindOfMemoryHoldsTensors) {
  for (MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned, MemoryKind::kManaged}) {
    hvd::set_device_memory(kind);
    const Tensor values = drawn({33, 5}), there = values.to(device());
    EXPECT_TRUE(hvd::equal((there * 2).cpu(), values * 2)) << hvd::memory_kind_name(kind);
  }
  EXPECT_THROW(hvd::set_device_memory(MemoryKind::kMalloc), hvd::Error);
}

TEST_P(GpuDevices, PeakOfMemoryIsReported) {
  hvd::reset_peak_device_memory();
  const size_t before = hvd::device_memory_use().used;
  { const Tensor big = hvd::zeros({1 << 20}, TensorOptions(hvd::kFloat32).device(device())); }
  const hvd::DeviceMemoryUse use = hvd::device_memory_use();
  EXPECT_EQ(use.used, before);
  EXPECT_GE(use.peak, before + (size_t{4} << 20));
  EXPECT_GE(use.cached, size_t{4} << 20);
}

TEST_P(GpuDevices, TooMuchMemoryIsRefusedWithFigures) {
  try {
    hvd::empty({int64_t{1} << 40}, TensorOptions(hvd::kFloat32).device(device()));
    FAIL() << "4 TiB were handed out";
  } catch (const hvd::Error& error) {
    for (const char* part : {"out of device memory", "4194304 MiB asked for", "used by tensors", "free"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const hvd::Error& error) {
    return error.what();
  }
  return "";
}

// Kernels find what is wrong; the host says so when it next waits, and only once.
TEST_P(GpuDevices, WrongIndicesAndTargetsAreNamedWhenTheHostNextWaits) {
  const TensorOptions integers = TensorOptions(hvd::kInt64).device(device());
  const Tensor table = drawn({4, 2}).to(device()), index = hvd::tensor({1, 9}, integers);
  const Tensor rows = table.index_select(0, index);
  EXPECT_EQ(message_of([&] { rows.cpu(); }), "index_select: index 9 of a dimension of 4");
  EXPECT_EQ(message_of([&] { rows.cpu(); }), "");
  for (const hvd::Reduction reduction : {hvd::kMean, hvd::kNone}) {
    const Tensor loss = hvd::nn::functional::cross_entropy(table.narrow(0, 0, 2), index, hvd::nn::CrossEntropyLossOptions().reduction(reduction));
    EXPECT_EQ(message_of([&] { loss.sum().item<float>(); }), "cross_entropy: target 9 in row 1 is not one of 2 classes");
  }
  const Tensor x = drawn({2, 2}).to(device()).requires_grad_();
  hvd::nn::functional::cross_entropy(x, index).backward();
  EXPECT_NE(message_of([&] { x.grad().cpu(); }), "");
  EXPECT_NE(message_of([&] { table.add(drawn({4, 2})); }).find("different devices"), std::string::npos);
}

TEST_P(GpuDevices, PrintsAndCompares) {
  const Tensor values = drawn({2, 3});
  std::ostringstream here, there;
  here << values;
  there << values.to(device());
  EXPECT_EQ(here.str(), there.str());
  EXPECT_TRUE(hvd::allclose(values.to(device()), values.to(device())));
}

struct NetImpl : hvd::nn::Module {
  NetImpl() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("hidden", hidden);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = hvd::max_pool2d(norm->forward(conv->forward(x)).relu(), 2);
    return hidden->forward(hvd::dropout(y.flatten(1), 0.2, is_training()));
  }
  hvd::nn::Conv2d conv{hvd::nn::Conv2dOptions(1, 3, 3).padding(1)};
  hvd::nn::BatchNorm2d norm{3};
  hvd::nn::Linear hidden{3 * 14 * 14, 10};
};
HVD_MODULE(Net);

/// Losses of some steps; with `on_device` the batches come there by themselves.
std::vector<double> train(hvd::Device device, bool by_default, size_t workers) {
  const core_tests::Defaults defaults;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  if (by_default) hvd::set_default_device(device);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::Digits(60, 5).map(hvd::data::Normalize(0.13, 0.3)),
                                            hvd::data::DataLoaderOptions(20).workers(workers));
  Net net;
  net->to(device);
  hvd::optim::Adam optimizer(net->parameters(), hvd::optim::AdamOptions(0.01));
  hvd::nn::CrossEntropyLoss criterion;
  std::vector<double> losses;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    const Tensor loss = criterion(net(by_default ? batch.data : batch.data.to(device)), by_default ? batch.target : batch.target.to(device));
    loss.backward();
    hvd::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST_P(GpuDevices, TrainingFollowsTheReference) {
  const std::vector<double> reference = train(hvd::kCPU, false, 0);
  ASSERT_EQ(reference.size(), 3u);
  for (const bool by_default : {false, true})
    for (const size_t workers : {0, 2}) {
      const std::vector<double> losses = train(device(), by_default, workers);
      ASSERT_EQ(losses.size(), reference.size());
      for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], reference[i], 1e-9 * reference[i]) << "step " << i;
    }
}

/// The parameters after three steps; every seventh has a gradient in the second step only, so that its count of steps is its own. Lengths are those at which
/// launches, blocks and lists of parameters end.
std::vector<Tensor> updated(hvd::Device device, const std::function<std::unique_ptr<hvd::optim::Optimizer>(std::vector<Tensor>)>& make) {
  const core_tests::Defaults defaults;
  hvd::manual_seed(11);
  std::vector<Tensor> params, gradients;
  for (int i = 0; i < 135; ++i) {
    const int64_t lengths[] = {1, 7, 2048, 2049, 0, 300, 5000};
    const TensorOptions options = TensorOptions(i % 5 == 0 ? hvd::kFloat32 : hvd::kFloat64).device(hvd::kCPU);
    params.push_back(hvd::empty({lengths[i % 7]}, options).normal_().to(device).requires_grad_());
    gradients.push_back(hvd::empty({lengths[i % 7]}, options).normal_().to(device));
  }
  const auto optimizer = make(params);
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < params.size(); ++i) params[i].mutable_grad() = i % 7 == 3 && step != 1 ? Tensor() : gradients[i];
    optimizer->step();
  }
  std::vector<Tensor> out;
  for (const Tensor& p : params) out.push_back(p.detach().cpu().to(hvd::kFloat64));
  return out;
}

TEST_P(GpuDevices, ManyParametersAreUpdatedTogether) {
  namespace optim = hvd::optim;
  const std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)> makers[] = {
      [](auto p) { return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1)); },
      [](auto p) { return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.1)); },
      [](auto p) { return std::make_unique<optim::Adam>(std::move(p), optim::AdamOptions(0.1).weight_decay(0.1)); },
      [](auto p) { return std::make_unique<optim::AdamW>(std::move(p), optim::AdamWOptions(0.1)); },
      [](auto p) { return std::make_unique<optim::RMSprop>(std::move(p), optim::RMSpropOptions(0.1).centered().momentum(0.5)); },
      [](auto p) {
        std::vector<optim::ParamGroup> groups{optim::ParamGroup({p.begin(), p.begin() + 40}), optim::ParamGroup({p.begin() + 40, p.end()}, optim::SGDOptions(0.5))};
        return std::make_unique<optim::SGD>(std::move(groups), optim::SGDOptions(0.1).momentum(0.9));
      }};
  for (const auto& make : makers) {
    const std::vector<Tensor> here = updated(hvd::kCPU, make), there = updated(device(), make);
    for (size_t i = 0; i < here.size(); ++i) {
      if (here[i].numel() == 0) continue;
      EXPECT_LT(core_tests::difference(there[i], here[i]), i % 5 == 0 ? 1e-5 : 1e-12) << "parameter " << i << " of optimizer " << &make - makers;
    }
  }
}

TEST_P(GpuDevices, DeterministicTrainingHasTheSameBitsTwice) {
  hvd::set_deterministic(true);
  EXPECT_EQ(train(device(), false, 0), train(device(), false, 0));
}

TEST_P(GpuDevices, AStepDoesNotWaitForTheDevice) {
  hvd::manual_seed(3);
  Net net;
  net->to(device());
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.01).momentum(0.9));
  const Tensor x = drawn({8, 1, 28, 28}).to(device()), y = hvd::randint(0, 10, {8}, TensorOptions(hvd::kInt64).device(device()));
  const Tensor table = drawn({10, 4}).to(device()).requires_grad_();
  const uint64_t before = hvd::device_waits();
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    (hvd::nn::functional::cross_entropy(net(x), y) + hvd::nn::functional::embedding(y, table).sum()).backward();
    optimizer.step();
  }
  EXPECT_EQ(hvd::device_waits(), before);
  EXPECT_EQ(net->parameters()[0].sum().item<float>(), net->parameters()[0].sum().item<float>());
  EXPECT_EQ(hvd::device_waits(), before + 2);
}

TEST_P(GpuDevices, CheckpointsMoveBetweenDevices) {
  const std::string path = testing::TempDir() + "gpu_checkpoint.safetensors";
  hvd::manual_seed(3);
  Net here, there;
  there->to(device());
  hvd::save(there, path);
  hvd::load(here, path);
  for (size_t i = 0; i < here->parameters().size(); ++i) EXPECT_TRUE(hvd::equal(here->parameters()[i], there->parameters()[i].cpu()));
  hvd::load(there, path);
  EXPECT_EQ(there->parameters()[0].device(), device());
}

// -- the caching allocator, on memory that counts

class CountedMemory final : public hvd::backends::RawMemory {
 public:
  void* get(size_t bytes) override {
    if (taken + bytes > limit) return nullptr;
    taken += bytes;
    ++gets;
    return std::malloc(bytes);
  }
  void give_back(void* address, size_t bytes) noexcept override {
    taken -= bytes;
    std::free(address);
  }
  MemoryKind kind() const override { return MemoryKind::kDevice; }
  size_t free_bytes(size_t& total) const override { return total = limit, limit - taken; }

  size_t limit = 1 << 20, taken = 0;
  int gets = 0;
};

TEST(CachingAllocator, BlocksWasteAtMostAQuarter) {
  for (size_t bytes = 1; bytes < 3'000'000; bytes += bytes / 7 + 1) {
    const size_t size = hvd::backends::CachingAllocator::block_size(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(size % 512, 0u);
    EXPECT_LE(size, std::max<size_t>(bytes + bytes / 4, bytes + 511));
    EXPECT_EQ(hvd::backends::CachingAllocator::block_size(size), size);
  }
}

TEST(CachingAllocator, HandsReleasedBlocksOn) {
  CountedMemory raw;
  hvd::backends::CachingAllocator memory(raw);
  void* first = memory.allocate(1000);
  memory.release(first, 1000);
  EXPECT_EQ(memory.allocate(900), first);
  void* second = memory.allocate(900);
  EXPECT_NE(second, first);
  EXPECT_EQ(raw.gets, 2);
  EXPECT_EQ(memory.use().peak, 2048u);
  memory.release(first, 900);
  memory.release(second, 900);
}

TEST(CachingAllocator, GivesBackWhatItKeepsBeforeItRefuses) {
  CountedMemory raw;
  hvd::backends::CachingAllocator memory(raw);
  void* first = memory.allocate(600'000);
  memory.release(first, 600'000);
  void* second = memory.allocate(900'000);  // fits only without the first
  EXPECT_EQ(memory.use().cached, 0u);
  try {
    memory.allocate(700'000);
    FAIL();
  } catch (const hvd::Error& error) {
    EXPECT_STREQ(error.what(), "out of device memory: 700000 bytes asked for, 917504 bytes used by tensors, 131072 bytes of 1 MiB free");
  }
  memory.release(second, 900'000);
  memory.trim();
  EXPECT_EQ(raw.taken, 0u);
}

TEST(GpuLibrary, SaysWhyThereIsNone) {
  for (const hvd::DeviceType type : {hvd::kCUBLAS, hvd::kCUDNN}) {
    const std::string problem = hvd::device_problem(type);
    EXPECT_EQ(problem.empty(), hvd::is_available(type));
    if (problem.empty()) continue;
    try {
      hvd::empty({1}, TensorOptions(hvd::kFloat32).device(type));
      FAIL();
    } catch (const hvd::Error& error) {
      EXPECT_EQ(std::string(error.what()), "device '" + hvd::Device(type).name() + "': " + problem);
    }
  }
}

}  // namespace
}  // namespace gpu_devices_test
