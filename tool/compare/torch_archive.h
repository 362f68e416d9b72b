// SPDX-License-Identifier: Apache-2.0
//
// Reader of LibTorch archives (torch::save): a zip file of stored entries, a pickled description `NAME/data.pkl` and one raw
// storage `NAME/data/KEY` for each tensor (torch/csrc/jit/serialization, pickler.h and storage_context.h).
#pragma once

#include <string>

#include "tool/compare/safetensors.h"

namespace hvdize::compare {

/// Whether the content of a file looks like a zip archive with a `data.pkl`.
bool looksLikeTorchArchive(const std::string& content);

/// The tensors of an archive by their paths ("body.0.weight"), numbers and texts beside them as metadata. Optimizers name their
/// state by addresses of parameters: those become "#0", "#1", ... in the order of the parameter groups. Throws CheckpointError that
/// names the entry and what is wrong.
Checkpoint parseTorchArchive(const std::string& content);

}  // namespace hvdize::compare
