// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/network/parse.hpp"

#include <functional>
#include <set>

namespace hvd::nn {

/// A layer that is being made: its type reads `reader` and `inputs` and sets `shape` and `function`. Shapes are those of one sample.
class Layer {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>& inputs, const Tensor& x)>;

  Layer(Module& network, const std::string& name, LineReader& reader) : reader(reader), network_(network), name_(name) {}

  /// The shape of the one input that this type of layer takes, checked for its number of dimensions (0: any).
  const std::vector<int64_t>& input(size_t dims = 0) const;
  /// Makes `module` a child of the network and its forward the function.
  template <class M>
  void use(ModuleHolder<M> module, std::vector<int64_t> result) {
    network_.register_module(name_, module);
    apply([module](const Tensor& x) { return module->forward(x); }, std::move(result));
  }
  /// A function without state.
  void apply(std::function<Tensor(const Tensor&)> f, std::vector<int64_t> result);

  template <class M>
  ModuleHolder<M> child(ModuleHolder<M> module) {
    network_.register_module(name_, module);
    return module;
  }

  LineReader& reader;
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> network_input;
  std::vector<int64_t> shape;
  Function function;

 private:
  Module& network_;
  const std::string& name_;
};

/// By name: conv2d, linear, ...
const std::map<std::string, std::function<void(Layer&)>>& layer_types();

class NetworkBuilder {
 public:
  NetworkBuilder(NetworkImpl& network, const NetworkDescription& description, const NetworkOptions& options);
  void build();

 private:
  struct Value {
    std::string name;
    std::vector<int64_t> shape;
  };

  void add(const NetworkLine& line, const std::string& where);
  int64_t room_left() const;
  size_t value_named(const std::string& name) const;
  std::vector<size_t> inputs_of(LineReader& reader) const;
  static std::string known_types();
  void mark_last_uses();

  NetworkImpl& network_;
  const NetworkDescription& description_;
  const NetworkOptions& options_;
  std::map<std::string, int64_t> variables_;
  std::set<std::string> declared_;
  std::vector<Value> values_;
};

}  // namespace hvd::nn
