// SPDX-License-Identifier: Apache-2.0
#include "averager.hpp"

#include <algorithm>
#include <cmath>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "../exchange.hpp"

namespace hvd::dist {

namespace {

// What was at a place, and the mean that takes it: squares of their difference and of the mean.
struct Squares {
  double distance = 0, length = 0;
};

template <class T>
Squares divide(void* to, const void* from, std::size_t count, double by) {
  Squares squares;
  for (std::size_t i = 0; i < count; ++i) {
    T& value = static_cast<T*>(to)[i];
    const T mean = static_cast<T>(static_cast<const T*>(from)[i] / by);
    const double apart = static_cast<double>(value) - static_cast<double>(mean);
    squares.distance += apart * apart;
    squares.length += static_cast<double>(mean) * static_cast<double>(mean);
    value = mean;
  }
  return squares;
}

double seconds() { return static_cast<double>(Trace::now()) * 1e-9; }

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
  distance_ = length_ = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const GradientSpec& spec = values[i].spec;
    const double all = reducer_->weight(i);
    if (all == 0) continue;  // nobody has trained
    const Squares squares = spec.type == DataType::float32 ? divide<float>(values[i].data, reducer_->sum(i), spec.count, all)
                                                           : divide<double>(values[i].data, reducer_->sum(i), spec.count, all);
    if (!values[i].parameter) continue;
    distance_ += squares.distance;
    length_ += squares.length;
  }
}

bool steps_locally(const Rank& rank) { return rank.settings.period > 0 && rank.local_phase; }

namespace {

PeriodRule rule_of(const Settings& settings) {
  PeriodRule rule = settings.rule;
  rule.period = settings.period;
  return rule;
}

}  // namespace

LocalSteps::LocalSteps(Rank& rank)
    : rank_(rank), period_(rule_of(rank.settings)), measured_(rank.settings.rule.measures_means()), epoch_begun_(seconds()), mean_ended_(epoch_begun_) {
  rank.strategy = this;
}

void LocalSteps::averaged(Progress& progress) {
  longest_since_ = std::max(longest_since_, progress.since);
  distance_ += progress.averager.distance();
  length_ += progress.averager.length();
  progress.since = 0;
  progress.samples_before = samples_;
}

// What ranks have measured is put together, so that all come to the same period.
void LocalSteps::note_means(double begun) {
  if (longest_since_ == 0) return;  // no mean has been taken
  const double ended = seconds(), steps = static_cast<double>(longest_since_), ranks = rank_.size();
  detail::Number sums[3];
  sums[0].real = ended - begun;
  sums[1].real = (begun - mean_ended_) / steps;
  sums[2].real = distance_;
  if (measured_) {
    combine_numbers(rank_, sums, 3, detail::Combine::sum, true, {"period"});
    const double drift = length_ > 0 ? std::sqrt(sums[2].real / ranks / length_) : 0;
    period_.mean_taken(sums[0].real / ranks, sums[1].real / ranks, drift);
  }
  mean_ended_ = seconds();
  longest_since_ = 0;
  distance_ = length_ = 0;
}

void LocalSteps::note_epoch() {
  if (steps_ == 0) return;
  double each = 0;
  if (rank_.settings.rule.measures_epochs())
    each = sum_over_ranks(rank_, (seconds() - epoch_begun_) / static_cast<double>(steps_), {"period"}) / rank_.size();
  period_.epoch_over(each);
  steps_ = 0;
}

void LocalSteps::after_step(bool pass_over) {
  const double begun = seconds();
  average(pass_over ? 1 : period_.now());
  note_means(begun);
  if (pass_over) {
    note_epoch();
    epoch_begun_ = mean_ended_ = seconds();
  }
  rank_.local_phase = !rank_.settings.hierarchical && rank_.step >= rank_.settings.local_after;
}

double LocalSteps::begin_backward(LossKind kind) {
  if (rank_.scope && (rank_.settings.period > 1 || rank_.settings.rule.kind != PeriodRule::Kind::fixed))
    throw dist::Failure<Error>("HVD_SYNC: this program steps through its batches by hand, so it is not known where an epoch ends; averages "
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
