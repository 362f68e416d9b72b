// SPDX-License-Identifier: Apache-2.0
#include "reducer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "rank.hpp"

namespace hvd::dist {

namespace {

// The first bucket is small: it is full soon, and its reduction starts while almost all of backward is still to come.
constexpr std::size_t kFirstBucketShare = 8;

std::string describe(const GradientSpec& spec) {
  return "'" + spec.name + "' with " + std::to_string(spec.count) + " " + name_of(spec.type) + " elements";
}

void copy_scaled(void* to, const void* from, std::size_t count, DataType type, double scale) {
  if (scale == 1) {
    std::memcpy(to, from, count * size_of(type));
  } else if (type == DataType::float32) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<float*>(to)[i] = static_cast<float>(static_cast<const float*>(from)[i] * scale);
  } else {
    for (std::size_t i = 0; i < count; ++i) static_cast<double*>(to)[i] = static_cast<const double*>(from)[i] * scale;
  }
}

}  // namespace

Reducer::Reducer(Rank& rank, std::vector<GradientSpec> specs, std::size_t bucket_bytes, Allocate allocate, const char* what)
    : rank_(rank), what_(what), specs_(std::move(specs)), bucket_bytes_(bucket_bytes), allocate_(std::move(allocate)), given_(specs_.size(), 0) {
  if (!allocate_) allocate_ = [comm = rank.comm.get()](std::size_t bytes) { return comm->allocate(bytes); };
  check_same_everywhere(rank);
  std::vector<std::size_t> order(specs_.size());
  std::iota(order.rbegin(), order.rend(), 0);  // backward reaches the last layer first
  plan(order);
  // Further reducers than the board has lines for are not watched by themselves; the rank's other operations still are.
  auto comm = rank.comm->duplicate(kReducerChannel + rank.reducers);
  if (rank.reducers >= kReducerChannels) comm->watch(nullptr, 0);
  ++rank.reducers;
  if (rank.trace) rank.trace->name_track(rank.reducers, std::string(what) + " " + std::to_string(rank.reducers));
  comm->trace(rank.trace.get(), rank.reducers);
  if (rank.settings.check) comm->check(std::make_shared<CollectiveCheck>(rank));
  comm->set_urgent(false);
  thread_ = std::make_unique<ReduceThread>(std::move(comm), what);
}

Reducer::~Reducer() = default;

void Reducer::check_same_everywhere(Rank& rank) const {
  std::string mine;
  for (const GradientSpec& spec : specs_) mine += describe(spec) + "\n";
  const std::string root = broadcast_text(*rank.comm, mine, 0, {"gradient plan"});
  // Everybody learns who differs first, and where: the error must reach all ranks.
  std::string difference;
  if (root != mine) {
    std::size_t i = 0, at = 0;
    for (; i < specs_.size(); ++i) {
      const std::string line = describe(specs_[i]) + "\n";
      if (root.compare(at, line.size(), line) != 0) break;
      at += line.size();
    }
    const std::string theirs = at < root.size() ? root.substr(at, root.find('\n', at) - at) : "no such gradient";
    difference = "gradient " + std::to_string(i) + " is " + (i < specs_.size() ? describe(specs_[i]) : "missing") + " on rank " +
                 std::to_string(rank.rank()) + ", but " + theirs + " on rank 0";
  }
  std::uint64_t differs = difference.empty() ? static_cast<std::uint64_t>(rank.size()) : static_cast<std::uint64_t>(rank.rank());
  rank.comm->allreduce(&differs, 1, DataType::uint64, ReduceOp::min, {"gradient plan"});
  if (differs == static_cast<std::uint64_t>(rank.size())) return;
  throw std::runtime_error("the ranks' parameters differ: " +
                           broadcast_text(*rank.comm, difference, static_cast<int>(differs), {"gradient plan"}));
}

void Reducer::plan(const std::vector<std::size_t>& order) {
  buckets_.clear();
  where_.assign(specs_.size(), {});
  for (const std::size_t i : order) {
    const GradientSpec& spec = specs_[i];
    const std::size_t limit = buckets_.size() == 1 ? std::max<std::size_t>(bucket_bytes_ / kFirstBucketShare, 1) : bucket_bytes_;
    const bool open = !buckets_.empty() && buckets_.back().type == spec.type &&
                      (buckets_.back().elements + spec.count) * size_of(spec.type) <= limit;
    if (!open) {
      buckets_.emplace_back();
      buckets_.back().type = spec.type;
    }
    Bucket& bucket = buckets_.back();
    where_[i] = {buckets_.size() - 1, bucket.elements, bucket.tensors.size()};
    bucket.tensors.push_back(i);
    bucket.elements += spec.count;
  }
  for (Bucket& bucket : buckets_) {
    for (const std::size_t i : bucket.tensors) where_[i].weight += bucket.elements;
    bucket.elements += bucket.tensors.size();
    bucket.data = allocate_(bucket.elements * size_of(bucket.type));
  }
}

void Reducer::begin_round() {
  finished_ = false;
  next_bucket_ = 0;
  std::fill(given_.begin(), given_.end(), 0);
  order_.clear();
  for (Bucket& bucket : buckets_) bucket.missing = bucket.tensors.size();
}

void Reducer::set_weight(std::size_t i, double weight) {
  Bucket& bucket = buckets_[where_[i].bucket];
  if (bucket.type == DataType::float32) reinterpret_cast<float*>(bucket.data.get())[where_[i].weight] = static_cast<float>(weight);
  else reinterpret_cast<double*>(bucket.data.get())[where_[i].weight] = weight;
}

void Reducer::begin() {
  if (finished_) begin_round();
}

void Reducer::take(std::size_t i) {
  begin();
  if (given_[i])
    throw std::runtime_error("gradient '" + specs_[i].name + "' arrives twice before reduce_gradients: overlap needs one reduction after every backward");
  given_[i] = 1;
  order_.push_back(i);
}

void Reducer::put(std::size_t i, const void* data, double scale, double weight) {
  take(i);
  const GradientSpec& spec = specs_[i];
  Bucket& bucket = buckets_[where_[i].bucket];
  char* to = bucket.data.get() + where_[i].offset * size_of(spec.type);
  if (data) copy_scaled(to, data, spec.count, spec.type, scale);
  else std::memset(to, 0, spec.count * size_of(spec.type));
  set_weight(i, weight);
  --bucket.missing;
  launch_full();
}

void Reducer::contribute(std::size_t i, const void* data, double scale, bool fresh) { put(i, data, scale, fresh ? 1 : 0); }

void Reducer::contribute_weighted(std::size_t i, const void* data, double weight) {
  put(i, weight > 0 ? data : nullptr, weight, weight);
}

void Reducer::arrived(std::size_t i, bool fresh, std::function<void()> ready) {
  take(i);
  Bucket& bucket = buckets_[where_[i].bucket];
  if (ready) bucket.before.push_back(std::move(ready));
  set_weight(i, fresh ? 1 : 0);
  --bucket.missing;
  launch_full();
}

std::shared_ptr<char> Reducer::place(std::size_t i) const {
  const Bucket& bucket = buckets_[where_[i].bucket];
  return {bucket.data, bucket.data.get() + where_[i].offset * size_of(specs_[i].type)};
}

// Values that are not numbers, by tensor.
std::string Reducer::fault_in(const Bucket& bucket, const void* data) const {
  for (const std::size_t i : bucket.tensors) {
    const GradientSpec& spec = specs_[i];
    const char* values = static_cast<const char*>(data) + where_[i].offset * size_of(spec.type);
    const std::size_t element = first_nan(values, spec.count, spec.type);
    if (element < spec.count) return nan_text(what_, spec.name, element, spec.count);
  }
  return {};
}

void Reducer::launch_full() {
  for (; next_bucket_ < buckets_.size() && buckets_[next_bucket_].missing == 0; ++next_bucket_) {
    Bucket& bucket = buckets_[next_bucket_];
    ReduceThread::Task task{bucket.data.get(), bucket.elements, bucket.type, std::move(bucket.before), site_, rank_.batches,
                            static_cast<int>(next_bucket_), root_, {}};
    if (rank_.trace) rank_.trace->bucket(next_bucket_, bucket.elements * size_of(bucket.type), bucket.tensors.size());
    if (rank_.settings.check && !rank_.loss_scaled) task.fault = [this, &bucket](const void* data) { return fault_in(bucket, data); };
    thread_->submit(std::move(task));
    bucket.before.clear();
  }
}

void Reducer::finish() {
  begin();
  for (std::size_t i = specs_.size(); i-- > 0;)
    if (!given_[i]) contribute(i, nullptr, 1, false);
  thread_->wait();
  finished_ = true;
}

double Reducer::weight(std::size_t i) const {
  const Bucket& bucket = buckets_[where_[i].bucket];
  if (bucket.type == DataType::float32) return reinterpret_cast<const float*>(bucket.data.get())[where_[i].weight];
  return reinterpret_cast<const double*>(bucket.data.get())[where_[i].weight];
}

const void* Reducer::sum(std::size_t i) const {
  return buckets_[where_[i].bucket].data.get() + where_[i].offset * size_of(specs_[i].type);
}

void Reducer::reorder(Rank& rank, std::vector<std::size_t> order) {
  rank.comm->broadcast(order.data(), order.size(), DataType::uint64, 0, {"gradient plan"});
  plan(order);
}

}  // namespace hvd::dist
