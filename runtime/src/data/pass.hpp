// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataloader.hpp>
#include <hvd/random.hpp>

#include <cstdint>
#include <vector>

namespace hvd::data {

/// What a pass will do: its batches, and how the samples' random streams are keyed.
struct PassPlan {
  std::vector<BatchIndices> batches;
  DataLoader::Cutter cut;  // null: they are what this rank takes; else whole, and each is cut when its turn comes
  std::vector<uint64_t> first_sample;  // of each global batch, counted from the start of the pass
  uint64_t stream_seed = 0;
};

/// A pass that makes its batches in advance() or in options.workers() threads.
std::unique_ptr<Pass> start_pass(std::shared_ptr<Dataset> dataset, PassPlan plan, const DataLoaderOptions& options);

}  // namespace hvd::data
