// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/graph/plan.hpp"

#include "device/cuda/check.hpp"

#include <future>
#include <optional>
#include <thread>

namespace hvd::backends::cuda::graph {

namespace {

/// An engine with its settings.
struct Candidate {
  Descriptor config;
  int64_t engine;
  rules::Notes notes;
};

rules::Notes notes_of(const Descriptor& engine) {
  rules::Notes notes;
  const std::vector<cudnnBackendNumericalNote_t> places(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  for (const cudnnBackendNumericalNote_t note : engine.get(HVD_CUDNN_ATTR(ENGINE_NUMERICAL_NOTE), places)) switch (note) {
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: notes.tensor_core = true; break;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: notes.down_convert = true; break;
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION: notes.reduced_reduction = true; break;
      case CUDNN_NUMERICAL_NOTE_FFT: notes.fft = true; break;
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13: notes.winograd = true; break;
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC: notes.nondeterministic = true; break;
      default: break;
    }
  return notes;
}

std::vector<Candidate> candidates(const Graph& graph, const Target& target, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics = HVD_CUDNN_DESCRIPTOR(ENGINEHEUR);
  heuristics.set(HVD_CUDNN_ATTR(ENGINEHEUR_OPERATION_GRAPH), graph.descriptor());
  heuristics.set(HVD_CUDNN_ATTR(ENGINEHEUR_MODE), mode);
#if CUDNN_VERSION >= 90800
  if (target.device) heuristics.set(HVD_CUDNN_ATTR(ENGINEHEUR_DEVICEPROP), *target.device);
#else
  static_cast<void>(target);
#endif
  heuristics.finish();
  const int64_t count = heuristics.count(HVD_CUDNN_ATTR(ENGINEHEUR_RESULTS), CUDNN_TYPE_BACKEND_DESCRIPTOR);
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int64_t i = 0; i < count; ++i) {
    configs.push_back(HVD_CUDNN_DESCRIPTOR(ENGINECFG));
    places.push_back(configs.back().raw());
  }
  if (count > 0) places = heuristics.get(HVD_CUDNN_ATTR(ENGINEHEUR_RESULTS), places);
  std::vector<Candidate> found;
  for (size_t i = 0; i < places.size(); ++i) {
    const Descriptor engine = HVD_CUDNN_DESCRIPTOR(ENGINE);
    configs[i].fill(HVD_CUDNN_ATTR(ENGINECFG_ENGINE), engine);
    found.push_back({std::move(configs[i]), engine.get<int64_t>(HVD_CUDNN_ATTR(ENGINE_GLOBAL_INDEX)), notes_of(engine)});
  }
  return found;
}

}  // namespace

Plan::Plan(Descriptor&& config, int64_t engine, const Target& target)
    : config_(std::move(config)), plan_(HVD_CUDNN_DESCRIPTOR(EXECUTION_PLAN)), engine_(engine) {
#if CUDNN_VERSION < 90800  // later ones take it from the graph, or from the heuristics
  if (target.handle) plan_.set(HVD_CUDNN_ATTR(EXECUTION_PLAN_HANDLE), target.handle);
#else
  static_cast<void>(target);
#endif
  plan_.set(HVD_CUDNN_ATTR(EXECUTION_PLAN_ENGINE_CONFIG), config_);
  plan_.finish();
  workspace_ = static_cast<size_t>(plan_.get<int64_t>(HVD_CUDNN_ATTR(EXECUTION_PLAN_WORKSPACE_SIZE)));
}

void Plan::run(cudnnHandle_t handle, const std::vector<Binding>& operands, void* workspace) const {
  std::vector<int64_t> uids;
  std::vector<Address> data;
  for (const Binding& operand : operands) {
    uids.push_back(operand.uid);
    data.push_back({const_cast<void*>(operand.data)});
  }
  Descriptor pack = HVD_CUDNN_DESCRIPTOR(VARIANT_PACK);
  pack.set(HVD_CUDNN_ATTR(VARIANT_PACK_UNIQUE_IDS), uids);
  pack.set(HVD_CUDNN_ATTR(VARIANT_PACK_DATA_POINTERS), data);
  pack.set(HVD_CUDNN_ATTR(VARIANT_PACK_WORKSPACE), Address{workspace});
  pack.finish();
  const cudnnStatus_t status = cudnnBackendExecute(handle, plan_.raw(), pack.raw());
  if (status != CUDNN_STATUS_SUCCESS) require(status, "cudnnBackendExecute of engine " + std::to_string(engine_));
}

namespace {

/// A plan, or why there is none.
struct Made {
  std::optional<Plan> plan;
  std::string trouble;
};

Made make(Candidate& candidate, const Target& target, size_t workspace) {
  try {
    if (target.handle) stream();  // binds this thread to its GPU
    Plan plan(std::move(candidate.config), candidate.engine, target);
    if (plan.workspace() <= workspace) return {std::move(plan), ""};
    return {std::nullopt, "engine " + std::to_string(candidate.engine) + " wants " + std::to_string(plan.workspace()) + " bytes"};
  } catch (const Failure& failure) {
    return {std::nullopt, failure.what()};
  }
}

/// Side by side: cuDNN compiles many of its engines when a plan is made, which takes it some hundredths of a second each.
std::vector<Made> make_all(std::vector<Candidate>& chosen, const Target& target, size_t workspace) {
  std::vector<std::future<Made>> others;
  const auto mode = std::thread::hardware_concurrency() > 1 ? std::launch::async : std::launch::deferred;
  for (size_t i = 1; i < chosen.size(); ++i) others.push_back(std::async(mode, [&, i] { return make(chosen[i], target, workspace); }));
  std::vector<Made> made;
  if (!chosen.empty()) made.push_back(make(chosen[0], target, workspace));
  for (std::future<Made>& other : others) made.push_back(other.get());
  return made;
}

}  // namespace

Proposals proposals(const Graph& graph, const Target& target, const rules::Arithmetic& wanted, size_t most, size_t workspace) {
  Proposals found;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (!found.plans.empty()) break;
    try {
      std::vector<Candidate> all = candidates(graph, target, mode);
      // As many as are still wanted, in the order of the heuristics, until there are enough.
      for (size_t next = 0; next < all.size() && found.plans.size() < most;) {
        std::vector<Candidate> chosen;
        for (; next < all.size() && found.plans.size() + chosen.size() < most; ++next) {
          ++found.considered;
          if (!rules::keeps_promises(all[next].notes, wanted)) continue;
          ++found.kept;
          chosen.push_back(std::move(all[next]));
        }
        for (Made& made : make_all(chosen, target, workspace)) {
          if (made.plan)
            found.plans.push_back(std::move(*made.plan));
          else
            found.trouble = made.trouble;
        }
      }
    } catch (const Failure& failure) {
      found.trouble = failure.what();
    }
  }
  return found;
}

}  // namespace hvd::backends::cuda::graph
