// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/holder.hpp>
#include <hvd/nn/module.hpp>
#include <hvd/optim/optimizer.hpp>
#include <hvd/tensor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

/// Checkpoints: files in the safetensors format (github.com/huggingface/safetensors). Little-endian header length, JSON header,
/// raw little-endian data. Model parameters and buffers are stored under their dotted names, optimizer state under
/// "optimizer.", the rest as text in the header's metadata.
///
/// Files appear whole or not at all: written beside the target, synced, renamed. A target that is no regular file (/dev/null) is
/// written as it is. Loading checks everything before it changes anything: a file that is unreadable, cut off, of another
/// format or of another model throws hvd::Error and leaves model and optimizer as they were.
namespace hvd {

/// Where a training run stands.
struct CheckpointMeta {
  int64_t epoch = 0;
  int64_t step = 0;
  std::map<std::string, std::string> extra;
};

using Metadata = std::map<std::string, std::string>;

void save_tensors(const std::string& path, const std::map<std::string, Tensor>& tensors, const Metadata& metadata = {});
std::map<std::string, Tensor> load_tensors(const std::string& path);
/// The file's metadata; no tensor is read.
Metadata load_metadata(const std::string& path);

/// Parameters and buffers of a model. Loading wants exactly the model's tensors, with their shapes and dtypes; it takes the model
/// part of a full checkpoint as well.
void save(const nn::Module& model, const std::string& path);
void load(nn::Module& model, const std::string& path);

/// Model, optimizer, state of the default random generator, and `meta`.
void save_checkpoint(const std::string& path, const nn::Module& model, const optim::Optimizer& optimizer, const CheckpointMeta& meta = {});
CheckpointMeta load_checkpoint(const std::string& path, nn::Module& model, optim::Optimizer& optimizer);

// The same for models behind a holder or a shared_ptr.
template <class M>
void save(const nn::ModuleHolder<M>& model, const std::string& path) {
  save(static_cast<const nn::Module&>(*model), path);
}
template <class M>
void load(const nn::ModuleHolder<M>& model, const std::string& path) {
  load(static_cast<nn::Module&>(*model), path);
}
template <class M>
void save(const std::shared_ptr<M>& model, const std::string& path) {
  save(static_cast<const nn::Module&>(*model), path);
}
template <class M>
void load(const std::shared_ptr<M>& model, const std::string& path) {
  load(static_cast<nn::Module&>(*model), path);
}
template <class M>
void save_checkpoint(const std::string& path, const nn::ModuleHolder<M>& model, const optim::Optimizer& optimizer,
                     const CheckpointMeta& meta = {}) {
  save_checkpoint(path, static_cast<const nn::Module&>(*model), optimizer, meta);
}
template <class M>
CheckpointMeta load_checkpoint(const std::string& path, const nn::ModuleHolder<M>& model, optim::Optimizer& optimizer) {
  return load_checkpoint(path, static_cast<nn::Module&>(*model), optimizer);
}
template <class M>
void save_checkpoint(const std::string& path, const std::shared_ptr<M>& model, const optim::Optimizer& optimizer,
                     const CheckpointMeta& meta = {}) {
  save_checkpoint(path, static_cast<const nn::Module&>(*model), optimizer, meta);
}
template <class M>
CheckpointMeta load_checkpoint(const std::string& path, const std::shared_ptr<M>& model, optim::Optimizer& optimizer) {
  return load_checkpoint(path, static_cast<nn::Module&>(*model), optimizer);
}

}  // namespace hvd
