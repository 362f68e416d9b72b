// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/torch/loaders.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <hvd/context.hpp>
#include <hvd/dist/scalars.hpp>

#include "state.hpp"

namespace hvd::detail {

namespace {

thread_local Slices* asking_now = nullptr;

}  // namespace

Slices* Slices::asking() noexcept { return asking_now; }

Slices::Asking::Asking(Slices& slices) : outer_(asking_now) {
  dist::Rank& rank = dist::require_rank("steps");
  torch_binding::state(rank);  // its random streams watch the steps
  rank.enter_step();
  dist::trace_phase(dist::Phase::loading);
  asking_now = &slices;
}

Slices::Asking::~Asking() {
  asking_now = outer_;
  dist::require_rank("steps").leave_step();
}

Slices::Slices(bool drawing_workers) : drawing_workers_(drawing_workers), splits_(std::make_unique<dist::PassSplits>()) {
  dist::after_step(true);
  if (drawing_workers_) align_draws();
}

void Slices::step_over() {
  leave();
  torch_binding::state(dist::require_rank("steps")).pairs.refuse();
  dist::body_over(!outer_);
  dist::after_step(false);
}

// Workers draw from the stream that happens to be the current one. When an exception leaves the loop, the job ends.
Slices::~Slices() {
  leave();
  dist::trace_phase(dist::Phase::none);
  if (std::uncaught_exceptions()) return;
  dist::after_step(true);
  if (drawing_workers_) align_draws();
}

void align_draws() {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  if (at::hasCUDA()) generators.push_back(at::globalContext().defaultGenerator(c10::Device(c10::DeviceType::CUDA)));
  for (at::Generator& generator : generators) {
    const auto locked = [&](auto body) {  // never while waiting for others: ranks may be threads that share the generator
      const std::lock_guard<std::mutex> lock(generator.mutex());
      return body();
    };
    const at::Tensor state = locked([&] { return generator.get_state().clone(); });
    auto* begin = static_cast<char*>(state.data_ptr());
    std::string bytes(begin, begin + state.nbytes());
    root_bytes(bytes, "steps", CallSite::here());
    std::memcpy(begin, bytes.data(), bytes.size());
    if (rank() != 0) locked([&] { generator.set_state(state); });
  }
}

Slices::Item Slices::next() {
  if (items_.empty())
    throw dist::Failure<std::runtime_error>("hvd::steps: the loader's sampler hands out no slices. Make the loader with a sharded one: "
                             "make_data_loader<hvd::Sharded<torch::data::samplers::RandomSampler>>(...)");
  const Item item = items_.front();
  items_.pop_front();
  return item;
}

void Slices::enter(const Slice& slice) {
  leave();
  current_ = slice;
  outer_ = context().current_slice;
  context().current_slice = &current_;
  inside_ = true;
  dist::begin_batch();
  dist::trace_phase(dist::Phase::forward);
  torch_binding::state(dist::require_rank("steps"));  // its random streams watch the steps
  dist::require_rank("steps").enter_step();
  if (!outer_ && !std::exchange(looked_, true)) torch_binding::state(dist::require_rank("steps")).pairs.begin(slice.filler ? 0 : slice.rows);
}

void Slices::leave() {
  if (!inside_) return;
  inside_ = false;
  if (!outer_) torch_binding::state(dist::require_rank("steps")).pairs.end();
  dist::require_rank("steps").leave_step();
  context().current_slice = outer_;
}

Slice Slices::cut(std::int64_t global_rows) {
  if (global_rows <= 0) throw dist::Failure<std::runtime_error>("hvd::steps: an empty batch cannot be shared out");
  return splits_->cut(global_rows, batches_cut_++);
}

void Slices::check(const std::vector<std::int64_t>& rows, const Slice& slice) {
  const std::int64_t samples = slice.local_rows();
  if (samples <= 0) return;
  per_sample_.resize(std::max(per_sample_.size(), rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::int64_t& each = per_sample_[i];
    if (each == 0 && rows[i] % samples == 0) each = rows[i] / samples;
    if (rows[i] != 0 && each * samples == rows[i]) continue;
    throw dist::Failure<std::runtime_error>("hvd::steps: rank " + std::to_string(rank()) + " has " + std::to_string(samples) + (samples == 1 ? " sample" : " samples") + " of a batch, and tensor " +
                                            std::to_string(i + 1) + " of that batch has " + std::to_string(rows[i]) +
                                            " rows, which are not equally many for each sample: what a rank computes of them would not add up to what the program computes of the whole batch");
  }
}

void note_rows(const at::Tensor& rows) {
  if (dist::Rank* rank = dist::this_rank()) torch_binding::state(*rank).pairs.note(rows);
}

void note_order(bool ordered, std::size_t workers) {
  if (!ordered && workers > 1)
    throw dist::Failure<std::runtime_error>("hvd::steps: the loader's workers return batches in any order (enforce_ordering(false)), so ranks would mix "
                             "different batches into one step; leave the order on");
}

}  // namespace hvd::detail
