// SPDX-License-Identifier: Apache-2.0
//
// From lines to layers: each type makes its layer for the shape of its input and says what shape comes out.
#include "nn/network/build.hpp"

#include <hvd/context.hpp>
#include <hvd/nn/batchnorm.hpp>
#include <hvd/nn/sequence.hpp>

#include <algorithm>

namespace hvd::nn {

NetworkOptions& NetworkOptions::input(std::vector<int64_t> shape) { return input_ = std::move(shape), *this; }
NetworkOptions& NetworkOptions::set(const std::string& variable, int64_t value) { return variables_[variable] = value, *this; }

NetworkOptions& NetworkOptions::most_parameters(int64_t count) {
  if (count < 0) throw Error("network: at most " + std::to_string(count) + " parameters");
  return most_parameters_ = count, *this;
}

namespace {

using Extents = std::vector<int64_t>;

std::string where_of(const NetworkDescription& description, const NetworkLine& line) {
  return description.source + ":" + std::to_string(line.number) + ": " + line.name;
}

int64_t product(const Extents& shape) {
  int64_t n = 1;
  // So many that windows and strides of up to 9 digits, the most a text may hold, stay inside of 64 bits.
  for (const int64_t extent : shape) {
    if (extent < 1 || extent > (int64_t{1} << 32) / n) throw Error("a shape " + to_string(shape));
    n *= extent;
  }
  return n;
}

/// While it lives, new tensors have so many elements at most.
class TensorLimit {
 public:
  explicit TensorLimit(int64_t elements) : before_(context().largest_tensor) { context().largest_tensor = std::min(before_, elements); }
  ~TensorLimit() { context().largest_tensor = before_; }
  TensorLimit(const TensorLimit&) = delete;
  TensorLimit& operator=(const TensorLimit&) = delete;

 private:
  int64_t before_;
};

}  // namespace

NetworkBuilder::NetworkBuilder(NetworkImpl& network, const NetworkDescription& description, const NetworkOptions& options)
    : network_(network), description_(description), options_(options) {}

void NetworkBuilder::build() {
  for (const NetworkLine& line : description_.lines) {
    const std::string where = where_of(description_, line);
    try {
      add(line, where);
    } catch (const Error& error) {
      throw Error(where + ": " + error.what());
    }
  }
  if (values_.size() < 2) throw Error(description_.source + ": no input and a layer at least");
  for (const auto& [name, value] : options_.variables())
    if (!declared_.count(name)) throw Error(description_.source + ": no line of type 'set' declares a variable '" + name + "'");
  network_.input_ = values_.front().shape;
  network_.output_ = values_.back().shape;
  mark_last_uses();
}

void NetworkBuilder::add(const NetworkLine& line, const std::string& where) {
  LineReader reader(line, variables_);
  if (line.type == "set") {
    const int64_t value = reader.count("value");
    const auto given = options_.variables().find(line.name);
    if (!declared_.insert(line.name).second) throw Error("the variable is declared already");
    variables_[line.name] = given != options_.variables().end() ? given->second : value;
    return reader.finish();
  }
  for (const Value& value : values_)
    if (value.name == line.name) throw Error("the name is used already");
  if (line.type == "input") {
    if (!values_.empty()) throw Error("the input stands before all layers, once");
    const Extents shape = reader.counts("shape");
    values_.push_back({line.name, options_.input().empty() ? shape : options_.input()});
    product(values_[0].shape);
    return reader.finish();
  }
  if (values_.empty()) throw Error("the first layer is one of type 'input'");
  const auto type = layer_types().find(line.type);
  if (type == layer_types().end()) throw Error("unknown type '" + line.type + "'; known are " + known_types());
  Layer layer(network_, line.name, reader);
  std::vector<size_t> inputs = inputs_of(reader);
  for (const size_t i : inputs) layer.inputs.push_back(values_[i].shape);
  layer.network_input = values_[0].shape;
  {
    const TensorLimit limit(room_left());
    type->second(layer);
  }
  if (room_left() < 0) throw Error("the network has more than " + std::to_string(options_.most_parameters()) + " parameters");
  reader.finish();
  product(layer.shape);
  values_.push_back({line.name, layer.shape});
  network_.steps_.push_back({where, std::move(inputs), std::move(layer.function), {}});
}

int64_t NetworkBuilder::room_left() const {
  int64_t room = options_.most_parameters();
  for (const Tensor& t : network_.parameters()) room -= t.numel();
  for (const Tensor& t : network_.buffers()) room -= t.numel();
  return room;
}

size_t NetworkBuilder::value_named(const std::string& name) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].name == name) return i;
  throw Error("no line before this one is named '" + name + "'");
}

std::vector<size_t> NetworkBuilder::inputs_of(LineReader& reader) const {
  const std::vector<std::string> from = reader.names("from");
  if (from.size() > 1) throw Error("'from' names one line; further ones stand in 'with'");
  std::vector<size_t> inputs = {from.empty() ? values_.size() - 1 : value_named(from[0])};
  for (const std::string& name : reader.names("with")) inputs.push_back(value_named(name));
  return inputs;
}

std::string NetworkBuilder::known_types() {
  std::string list = "input, set";
  for (const auto& [name, make] : layer_types()) list += ", " + name;
  return list;
}

void NetworkBuilder::mark_last_uses() {
  std::vector<size_t> last(network_.steps_.size() + 1, 0);
  for (size_t s = 0; s < network_.steps_.size(); ++s)
    for (const size_t i : network_.steps_[s].inputs) last[i] = s;
  for (size_t i = 0; i + 1 < last.size(); ++i) network_.steps_[last[i]].last_uses.push_back(i);
}

NetworkImpl::NetworkImpl(const NetworkDescription& description, const NetworkOptions& options) {
  NetworkBuilder(*this, description, options).build();
}

Tensor NetworkImpl::forward(const Tensor& x) {
  if (x.dim() < 1 || Extents(x.sizes().begin() + 1, x.sizes().end()) != input_)
    throw Error("network: samples of shape " + to_string(input_) + " expected, not a batch " + to_string(x.sizes()));
  std::vector<Tensor> values(steps_.size() + 1);
  values[0] = x;
  for (size_t s = 0; s < steps_.size(); ++s) {
    std::vector<Tensor> inputs;
    for (const size_t i : steps_[s].inputs) inputs.push_back(values[i]);
    try {
      values[s + 1] = steps_[s].function(inputs, x);
    } catch (const Error& error) {
      throw Error(steps_[s].where + ": " + error.what());
    }
    for (const size_t i : steps_[s].last_uses) values[i] = Tensor();
  }
  return values.back();
}

}  // namespace hvd::nn
