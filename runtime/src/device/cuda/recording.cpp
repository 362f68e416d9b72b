// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/recording.hpp"

#include "device/cuda/check.hpp"
#include "device/cuda/memory.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

#include <cstring>
#include <utility>
#include <vector>

namespace hvd::backends::cuda {

namespace {

constexpr MemoryKind kKinds[] = {MemoryKind::kPinned, MemoryKind::kManaged, MemoryKind::kDevice};

// Destructors report nothing: CUDA may be gone by then.
class Graphs final : public GpuRecording {
 public:
  ~Graphs() override {
    cudaStreamSynchronize(stream());  // a graph under way uses its memory
    for (const cudaGraphExec_t piece : pieces_)
      if (piece) cudaGraphExecDestroy(piece);
    for (void* constant : constants_) cudaFreeHost(constant);
    cudaGetLastError();
    for (size_t i = 0; i < std::size(kKinds); ++i) memory_of(kKinds[i]).dissolve(memory_[i]);
  }

  // Relaxed: threads that load batches ask for locked memory meanwhile, and this one for memory of its own. What may not be captured is
  // refused by to_host() and synchronize(), with words of their own.
  void open() override {
    for (size_t i = 0; i < std::size(kKinds); ++i) memory_of(kKinds[i]).record_into(&memory_[i]);
    try {
      HVD_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed));
    } catch (...) {
      leave();
      throw;
    }
    context().gpu_recording = this;
  }

  size_t close() override {
    leave();
    cudaGraph_t graph = nullptr;
    HVD_CUDA(cudaStreamEndCapture(stream(), &graph));
    size_t nodes = 0;
    cudaGraphExec_t piece = nullptr;
    try {
      HVD_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
      if (nodes > 0) HVD_CUDA(cudaGraphInstantiate(&piece, graph, 0));
    } catch (...) {
      cudaGraphDestroy(graph);
      throw;
    }
    pieces_.push_back(piece);
    HVD_CUDA(cudaGraphDestroy(graph));
    return pieces_.size() - 1;
  }

  void drop() noexcept override {
    leave();
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream(), &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
  }

  void run(size_t piece) override {
    if (pieces_.at(piece)) HVD_CUDA(cudaGraphLaunch(pieces_[piece], stream()));
  }

  // A graph copies from this memory whenever it runs.
  void copy_constant(void* buffer, const void* host, size_t bytes) override {
    void* kept = nullptr;
    HVD_CUDA(cudaMallocHost(&kept, bytes));
    constants_.push_back(kept);
    std::memcpy(kept, host, bytes);
    HVD_CUDA(cudaMemcpyAsync(buffer, kept, bytes, cudaMemcpyDefault, stream()));
  }

  bool owns(const void* address) const override {
    for (const RecordedMemory& memory : memory_)
      if (memory.owns(address)) return true;
    return false;
  }

 private:
  void leave() noexcept {
    context().gpu_recording = nullptr;
    for (const MemoryKind kind : kKinds) memory_of(kind).record_into(nullptr);
  }

  RecordedMemory memory_[std::size(kKinds)];
  std::vector<cudaGraphExec_t> pieces_;  // null: nothing to do
  std::vector<void*> constants_;
};

}  // namespace

std::unique_ptr<GpuRecording> make_graphs() { return std::make_unique<Graphs>(); }

}  // namespace hvd::backends::cuda
