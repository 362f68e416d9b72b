// SPDX-License-Identifier: Apache-2.0
//
// The first time a convolution of some extents is met, cuDNN times its algorithms on the operands at hand, and the quickest is kept; in
// deterministic mode its heuristics choose, among those that give the same bits each time.
#include "device/cudnn/legacy.hpp"

#include "device/cudnn/handle.hpp"
#include "device/cudnn/problem.hpp"

#include <hvd/context.hpp>

#include <map>
#include <memory>
#include <vector>

namespace hvd::backends::cuda::legacy {

namespace {

constexpr int kMostAlgorithms = 16;

/// An algorithm with its workspace.
template <class Algorithm>
struct Choice {
  Algorithm algorithm;
  size_t workspace;
};

/// What came of a search for one, the quickest first; none where cuDNN has none, and our own kernels take over.
template <class Algorithm>
using Search = std::vector<Choice<Algorithm>>;

/// Those that work, fit and are deterministic where they must be; the results are in order of time.
template <class Algorithm, class Result>
Search<Algorithm> usable(cudnnStatus_t status, const Result* results, int count, bool deterministic, const char* call) {
  if (CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_NOT_SUPPORTED) check(status, call);
  Search<Algorithm> found;
  for (int i = 0; status == CUDNN_STATUS_SUCCESS && i < count; ++i) {
    const Result& r = results[i];
    if (r.status == CUDNN_STATUS_SUCCESS && r.memory <= kLargestWorkspace && (!deterministic || r.determinism == CUDNN_DETERMINISTIC))
      found.push_back({r.algo, r.memory});
  }
  return found;
}

/// run(algorithm, workspace) with the first algorithm that takes the problem: some that a search has found refuse it when they are asked.
/// False where none does.
template <class Algorithm, class Run>
bool run_first(Search<Algorithm>& search, const char* call, Run run) {
  while (!search.empty()) {
    const Workspace workspace(search.front().workspace);
    const cudnnStatus_t status = run(search.front().algorithm, workspace);
    if (status == CUDNN_STATUS_SUCCESS) return true;
    const auto category = CUDNN_STATUS_CATEGORY(status);
    if (category != CUDNN_STATUS_NOT_SUPPORTED && category != CUDNN_STATUS_BAD_PARAM) check(status, call);
    search.erase(search.begin());
  }
  return false;
}

/// A convolution's descriptors, and the algorithms chosen so far for its three products.
struct Plan {
  Descriptors descriptors;
  std::unique_ptr<Search<cudnnConvolutionFwdAlgo_t>> forward;
  std::unique_ptr<Search<cudnnConvolutionBwdDataAlgo_t>> input;
  std::unique_ptr<Search<cudnnConvolutionBwdFilterAlgo_t>> weight;
  explicit Plan(const Problem& problem) : descriptors(problem) {}
};

/// Those met so far; under the handle's lock.
Plan& plan_of(const Problem& problem) {
  static auto* const plans = new std::map<Problem, Plan>;
  return plans->try_emplace(problem, problem).first->second;
}

Problem problem_of(Dtype dtype, const Window2d& window) { return {dtype, window, context().deterministic, context().tf32}; }

/// alpha and beta as cuDNN takes them: double for float64, else float.
struct Factors {
  float one_single = 1, zero_single = 0;
  double one_double = 1, zero_double = 0;
  bool wide;
  explicit Factors(Dtype dtype) : wide(dtype == Dtype::kFloat64) {}
  const void* one() const { return wide ? static_cast<const void*>(&one_double) : &one_single; }
  const void* zero() const { return wide ? static_cast<const void*>(&zero_double) : &zero_single; }
};

}  // namespace

bool forward(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* x, const void* weight, const void* bias, void* y) {
  const Problem problem = problem_of(dtype, window);
  Plan& plan = plan_of(problem);
  const Descriptors& d = plan.descriptors;
  if (!plan.forward) {
    cudnnConvolutionFwdAlgoPerf_t results[kMostAlgorithms];
    int count = 0;
    cudnnStatus_t status;
    if (problem.deterministic) {
      status = cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.weight, d.convolution, d.y, kMostAlgorithms, &count, results);
    } else {
      const Workspace workspace(kLargestWorkspace / 4);
      status = cudnnFindConvolutionForwardAlgorithmEx(handle, d.x, x, d.weight, weight, d.convolution, d.y, y, kMostAlgorithms, &count, results,
                 workspace.data(), workspace.bytes());
    }
    plan.forward = std::make_unique<Search<cudnnConvolutionFwdAlgo_t>>(
        usable<cudnnConvolutionFwdAlgo_t>(status, results, count, problem.deterministic, "cudnnConvolutionForward"));
  }
  const Factors factors(dtype);
  const bool done = run_first(*plan.forward, "cudnnConvolutionForward", [&](cudnnConvolutionFwdAlgo_t algorithm, const Workspace& workspace) {
    return cudnnConvolutionForward(handle, factors.one(), d.x, x, d.weight, weight, d.convolution, algorithm, workspace.data(), workspace.bytes(),
                                   factors.zero(), d.y, y);
  });
  if (!done) return false;
  if (bias) HVD_CUDA(cudnnAddTensor(handle, factors.one(), d.bias, bias, factors.one(), d.y, y));
  return true;
}

bool grad_input(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* grad, const void* weight, void* grad_x) {
  const Problem problem = problem_of(dtype, window);
  Plan& plan = plan_of(problem);
  const Descriptors& d = plan.descriptors;
  if (!plan.input) {
    cudnnConvolutionBwdDataAlgoPerf_t results[kMostAlgorithms];
    int count = 0;
    cudnnStatus_t status;
    if (problem.deterministic) {
      status = cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, d.weight, d.y, d.convolution, d.x, kMostAlgorithms, &count, results);
    } else {
      const Workspace workspace(kLargestWorkspace / 4);
      status = cudnnFindConvolutionBackwardDataAlgorithmEx(handle, d.weight, weight, d.y, grad, d.convolution, d.x, grad_x, kMostAlgorithms, &count,
                 results, workspace.data(), workspace.bytes());
    }
    plan.input = std::make_unique<Search<cudnnConvolutionBwdDataAlgo_t>>(
        usable<cudnnConvolutionBwdDataAlgo_t>(status, results, count, problem.deterministic, "cudnnConvolutionBackwardData"));
  }
  const Factors factors(dtype);
  return run_first(*plan.input, "cudnnConvolutionBackwardData", [&](cudnnConvolutionBwdDataAlgo_t algorithm, const Workspace& workspace) {
    return cudnnConvolutionBackwardData(handle, factors.one(), d.weight, weight, d.y, grad, d.convolution, algorithm, workspace.data(), workspace.bytes(),
                                        factors.zero(), d.x, grad_x);
  });
}

bool grad_weight(cudnnHandle_t handle, Dtype dtype, const Window2d& window, const void* grad, const void* x, void* result) {
  const Problem problem = problem_of(dtype, window);
  Plan& plan = plan_of(problem);
  const Descriptors& d = plan.descriptors;
  if (!plan.weight) {
    cudnnConvolutionBwdFilterAlgoPerf_t results[kMostAlgorithms];
    int count = 0;
    cudnnStatus_t status;
    if (problem.deterministic) {
      status = cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, d.x, d.y, d.convolution, d.weight, kMostAlgorithms, &count, results);
    } else {
      const Workspace workspace(kLargestWorkspace / 4);
      status = cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, d.x, x, d.y, grad, d.convolution, d.weight, result, kMostAlgorithms, &count,
                 results, workspace.data(), workspace.bytes());
    }
    plan.weight = std::make_unique<Search<cudnnConvolutionBwdFilterAlgo_t>>(
        usable<cudnnConvolutionBwdFilterAlgo_t>(status, results, count, problem.deterministic, "cudnnConvolutionBackwardFilter"));
  }
  const Factors factors(dtype);
  return run_first(*plan.weight, "cudnnConvolutionBackwardFilter", [&](cudnnConvolutionBwdFilterAlgo_t algorithm, const Workspace& workspace) {
    return cudnnConvolutionBackwardFilter(handle, factors.one(), d.x, x, d.y, grad, d.convolution, algorithm, workspace.data(), workspace.bytes(),
                                          factors.zero(), d.weight, result);
  });
}

}  // namespace hvd::backends::cuda::legacy
