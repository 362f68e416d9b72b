// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/dataloader.hpp>

#include "pass.hpp"

#include <hvd/random.hpp>

#include <sstream>
#include <string>
#include <utility>

namespace hvd::data {

namespace {

void check_batch(const std::vector<size_t>& indices, size_t samples) {
  if (indices.empty()) throw Error("data loader: the sampler handed out an empty batch");
  for (const size_t index : indices)
    if (index >= samples)
      throw Error("data loader: the sampler asked for sample " + std::to_string(index) + " of a data set of " + std::to_string(samples));
}

// The streams of a pass come from where the default generator stands, but take nothing from it: a sampler that draws no
// random numbers leaves it as it was.
uint64_t stream_seed() {
  const Generator::State state = default_generator().state();
  const PhiloxBlock block = philox(state.seed, state.counter, 0x7061737300000000);
  return uint64_t{block.word[0]} << 32 | block.word[1];
}

PassPlan draw_plan(Sampler& sampler, size_t samples, const DataLoaderOptions& options, bool sharded) {
  PassPlan plan;
  plan.stream_seed = stream_seed();
  sampler.reset();
  const size_t size = sampler.size();
  size_t drawn = 0;
  const auto next = [&]() -> std::optional<BatchIndices> {
    return sharded ? sampler.next_slice(options.batch_size()) : sampler.Sampler::next_slice(options.batch_size());
  };
  while (auto batch = next()) {
    const auto rows = static_cast<size_t>(batch->slice.global_rows);
    check_batch(batch->indices, samples);
    if (options.drop_last() && rows < options.batch_size()) break;
    plan.first_sample.push_back(drawn);
    drawn += rows;
    if (drawn > size) throw Error("data loader: the sampler handed out more samples in a pass than its size() of " + std::to_string(size));
    plan.batches.push_back(std::move(*batch));
  }
  return plan;
}

}  // namespace

DataLoader::DataLoader(std::shared_ptr<Dataset> dataset, std::shared_ptr<Sampler> sampler, DataLoaderOptions options)
    : dataset_(std::move(dataset)), sampler_(std::move(sampler)), options_(options) {
  if (!dataset_ || !sampler_) throw Error("data loader: made without a data set or a sampler");
  if (options_.batch_size() == 0) throw Error("data loader: batch_size is 0, it must be at least 1");
}

size_t DataLoader::size() const {
  const size_t samples = sampler_->size(), batch = options_.batch_size();
  return samples / batch + (samples % batch != 0 && !options_.drop_last() ? 1 : 0);
}

struct DataLoader::Progress {
  Generator::State start;
  size_t taken = 0;
  bool over = false;

  /// Counts what the loop takes.
  class CountedPass;
};

class DataLoader::Progress::CountedPass : public Pass {
 public:
  CountedPass(std::unique_ptr<Pass> pass, std::shared_ptr<Progress> progress) : pass_(std::move(pass)), progress_(std::move(progress)) {}
  bool advance() override {
    const bool more = pass_->advance();
    progress_->taken += more;
    progress_->over = !more;
    return more;
  }
  Batch& batch() override { return pass_->batch(); }
  const Slice& slice() const override { return pass_->slice(); }

 private:
  std::unique_ptr<Pass> pass_;
  std::shared_ptr<Progress> progress_;
};

std::unique_ptr<Pass> DataLoader::start(bool sharded) const {
  Generator& generator = default_generator();
  const Generator::State now = generator.state();
  const std::shared_ptr<Progress> from = std::exchange(continued_, nullptr);
  if (from) generator.set_state(from->start);
  PassPlan plan = draw_plan(*sampler_, dataset_->size(), options_, sharded);
  if (from) generator.set_state(now);
  progress_ = std::make_shared<Progress>(Progress{from ? from->start : now, 0, false});
  if (from) {
    if (from->taken > plan.batches.size())
      throw Error("data loader: a pass of " + std::to_string(plan.batches.size()) + " batches cannot continue behind batch " + std::to_string(from->taken));
    const auto taken = static_cast<std::ptrdiff_t>(from->taken);
    plan.batches.erase(plan.batches.begin(), plan.batches.begin() + taken);
    plan.first_sample.erase(plan.first_sample.begin(), plan.first_sample.begin() + taken);
    progress_->taken = from->taken;
  }
  return std::make_unique<Progress::CountedPass>(start_pass(dataset_, std::move(plan), options_), progress_);
}

std::string DataLoader::state() const {
  if (!progress_ || progress_->over) return {};
  return std::to_string(progress_->start.seed) + " " + std::to_string(progress_->start.counter) + " " + std::to_string(progress_->taken);
}

void DataLoader::load_state(const std::string& state) {
  continued_ = nullptr;
  if (state.empty()) return;
  std::istringstream in(state);
  Progress from{};
  if (!(in >> from.start.seed >> from.start.counter >> from.taken) || !(in >> std::ws).eof())
    throw Error("data loader: '" + state + "' is no state of a pass");
  continued_ = std::make_shared<Progress>(from);
}

}  // namespace hvd::data
