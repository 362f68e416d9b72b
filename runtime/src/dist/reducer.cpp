// SPDX-License-Identifier: Apache-2.0
#include "reducer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <hvd/device.hpp>
#include <hvd/dist/failure.hpp>

#include "check.hpp"
#include "devices/plan.hpp"
#include "rank.hpp"

namespace hvd::dist {

namespace {

// The first bucket is small: it is full soon, and its reduction starts while almost all of backward is still to come.
constexpr std::size_t kFirstBucketShare = 8;

constexpr int kTracksOfNode = 1000;

// `shapes`: for a way of summing that goes by them.
std::string describe(const GradientSpec& spec, bool shapes) {
  return "'" + spec.name + "' with " + std::to_string(spec.count) + " " + name_of(spec.type) + " elements" +
         (shapes && spec.rows ? " in " + std::to_string(spec.rows) + " rows" : "");
}

}  // namespace

Reducer::Reducer(Rank& rank, std::vector<GradientSpec> specs, std::size_t bucket_bytes, Allocate allocate, const char* what,
                 std::unique_ptr<BucketMemory> gpu, const CompressionRule& compression, Communicator* over)
    : rank_(rank), comm_(over ? *over : *rank.comm), what_(what), specs_(std::move(specs)), bucket_bytes_(bucket_bytes), given_(specs_.size(), 0) {
  compression_ = make_bucket_sum(compression);
  const bool on_gpu = check_same_everywhere(rank, gpu && !compression) && comm_.devices() && (!gpu->only_direct() || carried_directly());
  if (!allocate) allocate = [comm = &comm_](std::size_t bytes) { return comm->allocate(bytes); };
  memory_ = on_gpu ? std::move(gpu) : make_host_buckets(std::move(allocate));
  std::vector<std::size_t> order(specs_.size());
  std::iota(order.rbegin(), order.rend(), 0);  // backward reaches the last layer first
  plan(order);
  // Further reducers than the board has lines for are not watched by themselves; the rank's other operations still are.
  auto comm = comm_.duplicate(kReducerChannel + rank.reducers);
  if (rank.reducers >= kReducerChannels) comm->watch(nullptr, 0);
  ++rank.reducers;
  // The ranks of a track meet in its operations: each node has tracks of its own.
  const bool in_node = &comm_ == rank.node.get();
  const int track = rank.reducers + (in_node ? (rank.node_number + 1) * kTracksOfNode : 0);
  const std::string where = in_node ? " in node " + std::to_string(rank.node_number) : "";
  if (rank.trace) rank.trace->name_track(track, std::string(what) + " " + std::to_string(rank.reducers) + where);
  comm->trace(rank.trace.get(), track);
  if (rank.settings.check) comm->check(std::make_shared<CollectiveCheck>(rank));
  comm->use_devices(comm_.devices());
  if (on_device()) comm->device_transport();  // all ranks connect now, before any of them is deep in a backward pass
  comm->set_partial(comm_.partial());
  comm->set_urgent(false);
  thread_ = std::make_unique<ReduceThread>(std::move(comm), what);
}

bool Reducer::carried_directly() const {
  comm_.plan_devices();
  return comm_.devices()->plan().way != DeviceWay::staged;
}

Reducer::~Reducer() = default;

bool Reducer::check_same_everywhere(Rank& rank, bool gpu) const {
  const bool shapes = compression_ != nullptr;
  std::string mine;
  for (const GradientSpec& spec : specs_) mine += describe(spec, shapes) + "\n";
  const std::string root = broadcast_text(comm_, mine, 0, {"gradient plan"});
  // Everybody learns who differs first, and where: the error must reach all ranks.
  std::string difference;
  if (root != mine) {
    std::size_t i = 0, at = 0;
    for (; i < specs_.size(); ++i) {
      const std::string line = describe(specs_[i], shapes) + "\n";
      if (root.compare(at, line.size(), line) != 0) break;
      at += line.size();
    }
    const std::string theirs = at < root.size() ? root.substr(at, root.find('\n', at) - at) : "no such gradient";
    difference = "gradient " + std::to_string(i) + " is " + (i < specs_.size() ? describe(specs_[i], shapes) : "missing") + " on rank " +
                 std::to_string(rank.rank()) + ", but " + theirs + " on rank 0";
  }
  std::uint64_t least[2] = {difference.empty() ? static_cast<std::uint64_t>(comm_.size()) : static_cast<std::uint64_t>(comm_.rank()), gpu};
  comm_.allreduce(least, 2, DataType::uint64, ReduceOp::min, {"gradient plan"});
  if (least[0] == static_cast<std::uint64_t>(comm_.size())) return least[1] != 0;
  throw dist::Failure<std::runtime_error>("the ranks' parameters differ: " +
                           broadcast_text(comm_, difference, static_cast<int>(least[0]), {"gradient plan"}));
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
    bucket.weights.assign(bucket.tensors.size(), 0);
    bucket.elements += bucket.tensors.size();
    for (std::size_t i = 0; i < sent_.size(); ++i) bucket.memory.push_back(memory_->allocate(bucket.elements * size_of(bucket.type)));
    bucket.data = bucket.memory[round_];
  }
}

// Which memory no round that is on its way uses.
std::size_t Reducer::free_memory() {
  for (std::size_t i = 0; i < sent_.size(); ++i)
    if (done(sent_[i])) return i;
  if (sent_.size() < rounds_) {
    for (Bucket& bucket : buckets_) bucket.memory.push_back(memory_->allocate(bucket.elements * size_of(bucket.type)));
    sent_.push_back(0);
    return sent_.size() - 1;
  }
  const std::size_t oldest = static_cast<std::size_t>(std::min_element(sent_.begin(), sent_.end()) - sent_.begin());
  wait_for(sent_[oldest], what_);
  return oldest;
}

void Reducer::begin_round() {
  finished_ = false;
  next_bucket_ = 0;
  std::fill(given_.begin(), given_.end(), 0);
  order_.clear();
  if (rounds_ > 1) round_ = free_memory();
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.tensors.size();
    bucket.data = bucket.memory[round_];
  }
}

void Reducer::set_weight(std::size_t i, double weight) { buckets_[where_[i].bucket].weights[where_[i].weight] = weight; }

// They travel behind the gradients, in the bucket's type.
void Reducer::write_weights(const Bucket& bucket) {
  char* const to = bucket.data.get() + (bucket.elements - bucket.weights.size()) * size_of(bucket.type);
  if (bucket.type == DataType::float64) return memory_->write(to, bucket.weights.data(), bucket.weights.size() * sizeof(double));
  const std::vector<float> narrow(bucket.weights.begin(), bucket.weights.end());
  memory_->write(to, narrow.data(), narrow.size() * sizeof(float));
}

void Reducer::read_weights(Bucket& bucket) {
  const char* const from = bucket.data.get() + (bucket.elements - bucket.weights.size()) * size_of(bucket.type);
  if (bucket.type == DataType::float64) return memory_->read(bucket.weights.data(), from, bucket.weights.size() * sizeof(double));
  std::vector<float> narrow(bucket.weights.size());
  memory_->read(narrow.data(), from, narrow.size() * sizeof(float));
  std::copy(narrow.begin(), narrow.end(), bucket.weights.begin());
}

void Reducer::begin() {
  if (finished_) begin_round();
}

void Reducer::take(std::size_t i) {
  begin();
  if (given_[i])
    throw dist::Failure<std::runtime_error>("gradient '" + specs_[i].name + "' arrives twice before reduce_gradients: overlap needs one reduction after every backward");
  given_[i] = 1;
  order_.push_back(i);
}

void Reducer::put(std::size_t i, const void* data, double scale, double weight) {
  take(i);
  const GradientSpec& spec = specs_[i];
  Bucket& bucket = buckets_[where_[i].bucket];
  char* to = bucket.data.get() + where_[i].offset * size_of(spec.type);
  memory_->put(to, data, spec.count, spec.type, scale);
  set_weight(i, weight);
  --bucket.missing;
  launch_full();
}

void Reducer::contribute(std::size_t i, const void* data, double scale, bool fresh) { put(i, data, scale, fresh ? 1 : 0); }

void Reducer::contribute_weighted(std::size_t i, const void* data, double weight) {
  if (compression_) throw std::logic_error("weights are not carried by compressed gradients");
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
  std::vector<char> here;
  if (on_device()) {
    here.resize(bucket.elements * size_of(bucket.type));
    memory_->read(here.data(), data, here.size());
    data = here.data();
  }
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
                            static_cast<int>(next_bucket_), root_, compressed_sum(bucket), {}, memory_->device(), {}, nullptr};
    if (rank_.trace) rank_.trace->bucket(next_bucket_, bucket.elements * size_of(bucket.type), bucket.tensors.size());
    if (rank_.settings.check && !rank_.loss_scaled) task.fault = [this, &bucket](const void* data) { return fault_in(bucket, data); };
    write_weights(bucket);
    task.ready = memory_->ready();
    sent_[round_] = thread_->submit(std::move(task));
    bucket.before.clear();
  }
}

std::function<void(Communicator&, const OpName&)> Reducer::compressed_sum(const Bucket& bucket) const {
  if (!compression_) return {};
  CompressedBucket compressed{bucket.data.get(), bucket.elements, bucket.type, {}, rank_.loss_scaled};
  for (const std::size_t i : bucket.tensors)
    compressed.tensors.push_back({i, where_[i].offset, specs_[i].count, specs_[i].rows, &specs_[i].name});
  return [way = compression_.get(), compressed = std::move(compressed), root = root_](Communicator& comm, const OpName& name) {
    way->sum(comm, compressed, root, name);
  };
}

void Reducer::contribute_nothing() {
  begin();
  for (std::size_t i = specs_.size(); i-- > 0;)
    if (!given_[i]) contribute(i, nullptr, 1, false);
}

void Reducer::send() {
  contribute_nothing();
  finished_ = true;
}

std::uint64_t Reducer::submit(const char* what, std::int64_t batch, std::function<void(Communicator&, const OpName&)> operation) {
  ReduceThread::Task task{nullptr, 0, DataType::uint8, {}, site_, batch, -1, root_, std::move(operation), {}, -1, nullptr, what};
  return thread_->submit(std::move(task));
}

void Reducer::finish() {
  contribute_nothing();
  SpeedMeter* meter = rank_.measured ? &rank_.measured->meter : nullptr;
  if (meter && on_device()) hvd::synchronize();  // what the GPU still computes is this rank's own work, and no wait for others
  {
    const SpeedMeter::Waiting waiting(meter);
    thread_->wait();
  }
  for (Bucket& bucket : buckets_) read_weights(bucket);
  finished_ = true;
}

double Reducer::weight(std::size_t i) const { return buckets_[where_[i].bucket].weights[where_[i].weight]; }

const void* Reducer::sum(std::size_t i) const {
  return buckets_[where_[i].bucket].data.get() + where_[i].offset * size_of(specs_[i].type);
}

void Reducer::reorder(Rank&, std::vector<std::size_t> order) {
  comm_.broadcast(order.data(), order.size(), DataType::uint64, 0, {"gradient plan"});
  plan(order);
}

}  // namespace hvd::dist
