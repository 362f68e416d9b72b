// SPDX-License-Identifier: Apache-2.0
#include <hvd/checkpoint.hpp>

#include <hvd/random.hpp>

#include "safetensors.hpp"

#include <charconv>
#include <set>

namespace hvd {

namespace {

constexpr const char* kOptimizerPrefix = "optimizer.";
constexpr const char* kExtraPrefix = "extra.";
constexpr const char* kKind = "hvd.kind";  // "model" or "checkpoint"

bool starts_with(const std::string& text, const std::string& prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

std::vector<NamedTensor> tensors_of(const nn::Module& model) {
  std::vector<NamedTensor> all = model.named_parameters();
  for (NamedTensor& buffer : model.named_buffers()) all.push_back(std::move(buffer));
  return all;
}

std::string describe(const std::string& name, IntList shape, Dtype dtype) { return "'" + name + "' " + to_string(shape) + " " + dtype_name(dtype); }

[[noreturn]] void other_model(const std::string& path, const std::string& why) { throw Error("'" + path + "' is a checkpoint of another model: " + why); }

bool is_full_checkpoint(const io::SafetensorsFile& file) {
  const auto kind = file.metadata().find(kKind);
  return kind != file.metadata().end() && kind->second == "checkpoint";
}

void check_model(const io::SafetensorsFile& file, const std::string& path, const std::vector<NamedTensor>& model) {
  std::set<std::string> wanted;
  for (const NamedTensor& mine : model) {
    const std::string mine_text = describe(mine.name, mine.tensor.sizes(), mine.tensor.dtype());
    const auto found = file.tensors().find(mine.name);
    if (found == file.tensors().end()) other_model(path, "it has no tensor " + mine_text);
    if (found->second.shape != mine.tensor.sizes() || found->second.dtype != mine.tensor.dtype())
      other_model(path, "its tensor " + describe(mine.name, found->second.shape, found->second.dtype) + " is " + to_string(mine.tensor.sizes()) +
                            " " + dtype_name(mine.tensor.dtype()) + " in this model");
    wanted.insert(mine.name);
  }
  for (const auto& [name, entry] : file.tensors())
    if (!wanted.contains(name) && !(is_full_checkpoint(file) && starts_with(name, kOptimizerPrefix)))
      other_model(path, "this model has no tensor " + describe(name, entry.shape, entry.dtype));
}

// Reads first, copies then: a read error half-way must not leave half a model.
std::vector<Tensor> read_model(const io::SafetensorsFile& file, const std::vector<NamedTensor>& model) {
  std::vector<Tensor> values;
  for (const NamedTensor& mine : model) values.push_back(file.read(file.tensors().at(mine.name)));
  return values;
}

void copy_model(const std::vector<NamedTensor>& model, const std::vector<Tensor>& values) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < model.size(); ++i) model[i].tensor.copy_(values[i]);
}

template <class Int>
Int number(const Metadata& metadata, const std::string& key, const std::string& path) {
  const auto it = metadata.find(key);
  Int value{};
  if (it != metadata.end()) {
    const char* end = it->second.data() + it->second.size();
    const auto [ptr, error] = std::from_chars(it->second.data(), end, value);
    if (error == std::errc() && ptr == end) return value;
  }
  throw Error("'" + path + "' is not a checkpoint of a training run: its metadata has no number '" + key + "'");
}

std::vector<NamedTensor> read_optimizer(const io::SafetensorsFile& file) {
  std::vector<NamedTensor> state;
  for (const auto& [name, entry] : file.tensors())
    if (starts_with(name, kOptimizerPrefix)) state.push_back({name.substr(std::string(kOptimizerPrefix).size()), file.read(entry)});
  return state;
}

}  // namespace

void save_tensors(const std::string& path, const std::map<std::string, Tensor>& tensors, const Metadata& metadata) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) throw Error("save_tensors: tensor '" + name + "' is undefined");
    if (name == "__metadata__") throw Error("save_tensors: the name '__metadata__' is reserved by the format");
  }
  io::write_safetensors(path, tensors, metadata);
}

std::map<std::string, Tensor> load_tensors(const std::string& path) {
  const io::SafetensorsFile file(path);
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : file.tensors()) tensors.emplace(name, file.read(entry));
  return tensors;
}

Metadata load_metadata(const std::string& path) { return io::SafetensorsFile(path).metadata(); }

void save(const nn::Module& model, const std::string& path) {
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& entry : tensors_of(model)) tensors.emplace(entry.name, entry.tensor);
  save_tensors(path, tensors, {{kKind, "model"}});
}

void load(nn::Module& model, const std::string& path) {
  const io::SafetensorsFile file(path);
  const std::vector<NamedTensor> mine = tensors_of(model);
  check_model(file, path, mine);
  copy_model(mine, read_model(file, mine));
}

void save_checkpoint(const std::string& path, const nn::Module& model, const optim::Optimizer& optimizer, const CheckpointMeta& meta) {
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& entry : tensors_of(model)) {
    if (starts_with(entry.name, kOptimizerPrefix)) throw Error("save_checkpoint: the model's tensor '" + entry.name + "' has the optimizer's prefix");
    tensors.emplace(entry.name, entry.tensor);
  }
  for (const NamedTensor& entry : optimizer.state()) tensors.emplace(kOptimizerPrefix + entry.name, entry.tensor);
  const Generator::State random = default_generator().state();
  Metadata metadata{{kKind, "checkpoint"},
                    {"epoch", std::to_string(meta.epoch)},
                    {"step", std::to_string(meta.step)},
                    {"random.seed", std::to_string(random.seed)},
                    {"random.counter", std::to_string(random.counter)}};
  for (const auto& [key, value] : meta.extra) metadata.emplace(kExtraPrefix + key, value);
  save_tensors(path, tensors, metadata);
}

CheckpointMeta load_checkpoint(const std::string& path, nn::Module& model, optim::Optimizer& optimizer) {
  const io::SafetensorsFile file(path);
  if (!is_full_checkpoint(file)) throw Error("'" + path + "' is not a checkpoint of a training run: it holds no optimizer and no step");
  CheckpointMeta meta;
  meta.epoch = number<int64_t>(file.metadata(), "epoch", path);
  meta.step = number<int64_t>(file.metadata(), "step", path);
  const Generator::State random{number<uint64_t>(file.metadata(), "random.seed", path), number<uint64_t>(file.metadata(), "random.counter", path)};
  for (const auto& [key, value] : file.metadata())
    if (starts_with(key, kExtraPrefix)) meta.extra.emplace(key.substr(std::string(kExtraPrefix).size()), value);

  const std::vector<NamedTensor> mine = tensors_of(model);
  check_model(file, path, mine);
  const std::vector<Tensor> values = read_model(file, mine);
  try {
    optimizer.load_state(read_optimizer(file));  // refuses before it changes anything
  } catch (const Error& error) {
    throw Error("'" + path + "' is a checkpoint of another optimizer: " + error.what());
  }
  copy_model(mine, values);
  default_generator().set_state(random);
  return meta;
}

}  // namespace hvd
