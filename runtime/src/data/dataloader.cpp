// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/dataloader.hpp>

#include "pass.hpp"

#include <hvd/random.hpp>

#include <algorithm>
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

/// The batches behind the first `visited` samples of the pass. Those were taken in batches of this size, or of another when the run went
/// on with another number of ranks.
PassPlan draw_plan(Sampler& sampler, size_t samples, const DataLoaderOptions& options, bool sharded, size_t visited) {
  PassPlan plan;
  plan.stream_seed = stream_seed();
  sampler.reset();
  const size_t size = sampler.size();
  size_t drawn = 0;
  const auto next = [&](size_t rows) -> std::optional<BatchIndices> {
    return sharded ? sampler.next_slice(rows) : sampler.Sampler::next_slice(rows);
  };
  while (drawn < visited) {
    const auto batch = next(std::min(options.batch_size(), visited - drawn));
    if (!batch) throw Error("data loader: a pass over " + std::to_string(size) + " samples cannot continue behind sample " + std::to_string(visited));
    drawn += static_cast<size_t>(batch->slice.global_rows);
  }
  while (auto batch = next(options.batch_size())) {
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
  size_t taken = 0;  // samples of the whole batches that the loop has taken
  bool over = false;

  /// Counts what the loop takes.
  class CountedPass;
};

class DataLoader::Progress::CountedPass : public Pass {
 public:
  CountedPass(std::unique_ptr<Pass> pass, std::shared_ptr<Progress> progress) : pass_(std::move(pass)), progress_(std::move(progress)) {}
  bool advance() override {
    const bool more = pass_->advance();
    if (more) progress_->taken += static_cast<size_t>(pass_->slice().global_rows);
    progress_->over = !more;
    return more;
  }
  Batch& batch() override { return pass_->batch(); }
  const Slice& slice() const override { return pass_->slice(); }

 private:
  std::unique_ptr<Pass> pass_;
  std::shared_ptr<Progress> progress_;
};

std::unique_ptr<Pass> DataLoader::start(bool sharded, Cutter cut) const {
  Generator& generator = default_generator();
  const Generator::State now = generator.state();
  const std::shared_ptr<Progress> from = std::exchange(continued_, nullptr);
  if (from) generator.set_state(from->start);
  PassPlan plan = draw_plan(*sampler_, dataset_->size(), options_, sharded && !cut, from ? from->taken : 0);
  plan.cut = std::move(cut);
  if (from) generator.set_state(now);
  progress_ = std::make_shared<Progress>(Progress{from ? from->start : now, from ? from->taken : 0, false});
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
