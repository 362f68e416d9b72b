// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/graph/choice.hpp"

#include "device/cuda/check.hpp"

#include <hvd/core/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hvd::backends::cuda::graph {

namespace {

std::string_view setting(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
}

/// Two moments on the stream of computations.
class Clock {
 public:
  Clock() {
    for (cudaEvent_t& event : events_) HVD_CUDA(cudaEventCreate(&event));
  }
  ~Clock() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    cudaGetLastError();
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  /// Milliseconds of `work`; waits for it.
  float time(const std::function<void()>& work) const {
    HVD_CUDA(cudaEventRecord(events_[0], stream()));
    work();
    HVD_CUDA(cudaEventRecord(events_[1], stream()));
    HVD_CUDA(cudaEventSynchronize(events_[1]));
    float milliseconds = 0;
    HVD_CUDA(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]));
    return milliseconds;
  }

 private:
  cudaEvent_t events_[2] = {};
};

bool capturing() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  HVD_CUDA(cudaStreamIsCapturing(stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

Use use() {
  static const Use instance = [] {
    const std::string_view text = setting("HVD_CUDNN_GRAPH");
    if (text == "off") return Use::kOff;
    return text == "require" ? Use::kRequire : Use::kPrefer;
  }();
  return instance;
}

std::optional<size_t> choose(size_t count, bool timed, const std::function<void(size_t)>& run, std::string& trouble) {
  const bool clocked = timed && count > 1 && !capturing();
  std::optional<size_t> best;
  float least = 0;
  std::optional<Clock> clock;
  if (clocked) clock.emplace();
  for (size_t i = 0; i < count; ++i) {
    try {
      run(i);
      if (!clocked) return i;
      const float taken = clock->time([&] {
        run(i);
        run(i);
      });
      if (best && taken >= least) continue;
      best = i;
      least = taken;
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  return best;
}

void report(const std::string& operation, const std::string& choice, const std::string& trouble) {
  static const bool wanted = setting("HVD_CUDNN_LOG") == "1";
  if (!wanted) return;
  const std::string text = "hvdize: cuDNN: " + operation + ": " + (choice.empty() ? "no plan (" + trouble + ")" : choice) + "\n";
  std::fputs(text.c_str(), stderr);
}

void report_none(const std::string& operation, const std::string& trouble) {
  report(operation, "", trouble);
  if (use() == Use::kRequire) throw Error("cuDNN has no plan for " + operation + ": " + trouble);
}

}  // namespace hvd::backends::cuda::graph
