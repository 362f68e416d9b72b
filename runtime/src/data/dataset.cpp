// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/dataset.hpp>

#include "streams.hpp"

namespace hvd::data {

namespace {

Batch stack_examples(const std::vector<Example>& examples) {
  std::vector<Tensor> data, targets;
  for (const Example& example : examples) {
    data.push_back(example.data);
    if (example.target.defined()) targets.push_back(example.target);
  }
  if (!targets.empty() && targets.size() != data.size()) throw Error("get_batch: some samples of a batch have a target and some have none");
  return {stack(data), targets.empty() ? Tensor() : stack(targets)};
}

}  // namespace

Batch Dataset::get_batch(const std::vector<size_t>& indices) {
  if (indices.empty()) throw Error("get_batch: a batch needs at least one sample");
  const Slice* slice = current_slice();
  const uint64_t first_row = slice ? static_cast<uint64_t>(slice->first_row) : 0;
  const uint64_t rows = slice ? static_cast<uint64_t>(slice->global_rows) : indices.size();
  Generator& generator = default_generator();
  const Generator::State start = generator.state();

  std::vector<Example> examples;
  examples.reserve(indices.size());
  bool drew = false;
  for (size_t k = 0; k < indices.size(); ++k) {
    const Generator::State own{start.seed, start.counter + (first_row + k) * kDrawsPerSample};
    const ScopedDraws draws(own, nullptr);  // get sees one sample, not a slice
    examples.push_back(get(indices[k]));
    drew = drew || generator.state().counter != own.counter || generator.seed() != own.seed;
  }
  // The same on every rank, whatever part of the batch it made.
  if (drew) generator.set_state({start.seed, start.counter + rows * kDrawsPerSample});
  return stack_examples(examples);
}

}  // namespace hvd::data
