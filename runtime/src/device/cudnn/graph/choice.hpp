// SPDX-License-Identifier: Apache-2.0
//
// The choice among several ways to do the same: each is run on the operands at hand, the quickest is kept.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace hvd::backends::cuda::graph {

/// HVD_CUDNN_GRAPH: `off` leaves cuDNN's graphs out, `require` makes it an error when there is no plan (tests). Else other ways take over.
enum class Use { kPrefer, kRequire, kOff };
Use use();

/// Where `timed`, the quickest of the ways 0 ... count - 1; else, or while a CUDA graph is being captured, the first that works. None when all
/// fail; `trouble` then holds what the last one said.
std::optional<size_t> choose(size_t count, bool timed, const std::function<void(size_t)>& run, std::string& trouble);

/// With HVD_CUDNN_LOG=1 a line on the standard error stream. `choice` empty: no plan was found, for this reason.
void report(const std::string& operation, const std::string& choice, const std::string& trouble);

/// What to do when no plan was found: throws where HVD_CUDNN_GRAPH=require.
void report_none(const std::string& operation, const std::string& trouble);

}  // namespace hvd::backends::cuda::graph
