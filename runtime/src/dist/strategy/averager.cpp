// SPDX-License-Identifier: Apache-2.0
#include "averager.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

namespace hvd::dist {

namespace {

template <class T>
void divide(void* to, const void* from, std::size_t count, double by) {
  for (std::size_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = static_cast<T>(static_cast<const T*>(from)[i] / by);
}

}  // namespace

bool Averager::fits(const std::vector<AveragedValue>& values) const {
  if (!reducer_ || reducer_->specs().size() != values.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const GradientSpec &planned = reducer_->specs()[i], &now = values[i].spec;
    if (planned.count != now.count || planned.type != now.type || planned.name != now.name) return false;
  }
  return true;
}

void Averager::average(Rank& rank, const std::vector<AveragedValue>& values, double samples) {
  if (values.empty()) return;
  if (!fits(values)) {
    std::vector<GradientSpec> specs;
    for (const AveragedValue& value : values) specs.push_back(value.spec);
    reducer_.reset();
    reducer_ = std::make_unique<Reducer>(rank, std::move(specs), rank.settings.bucket_bytes, Reducer::Allocate{}, "parameters");
  }
  for (std::size_t i = values.size(); i-- > 0;) reducer_->contribute_weighted(i, values[i].data, samples);
  reducer_->finish();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const GradientSpec& spec = values[i].spec;
    const double all = reducer_->weight(i);
    if (all == 0) continue;  // nobody has trained
    if (spec.type == DataType::float32) divide<float>(values[i].data, reducer_->sum(i), spec.count, all);
    else divide<double>(values[i].data, reducer_->sum(i), spec.count, all);
  }
}

bool steps_locally(const Rank& rank) { return rank.settings.period > 0 && rank.local_phase; }

void LocalSteps::after_step(bool pass_over) {
  average(pass_over ? 1 : rank_.settings.period);
  rank_.local_phase = rank_.step >= rank_.settings.local_after;
}

double LocalSteps::begin_backward(LossKind kind) {
  if (rank_.scope && rank_.settings.period > 1)
    throw Error("HVD_SYNC: this program steps through its batches by hand, so it is not known where an epoch ends; averages "
                "are taken at the end of an epoch too, so run it with HVD_SYNC=step");
  const Slice* slice = context().current_slice;
  if (!slice) {  // all ranks hold the same batch
    samples_ += 1;
    return 1;
  }
  if (slice->filler) return 0;
  const double rows = static_cast<double>(slice->rows);
  if (kind.form() == LossKind::Form::counted) {  // its mean over these terms counts by their number
    samples_ += kind.count();
    return kind.count() > 0 ? 1 : 0;
  }
  samples_ += rows;
  // A sum stands for that over the global batch: a step must be as long as one of the sequential program.
  return kind.form() == LossKind::Form::sum ? static_cast<double>(slice->global_rows) / rows : 1;
}

}  // namespace hvd::dist
