// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/holder.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Networks that are written as text, a layer to a line: docs/networks.md describes the format and lists the types of layers.
namespace hvd::nn {

/// One line of a network: `name type key=value ...`.
struct NetworkLine {
  std::string name;
  std::string type;
  std::vector<std::pair<std::string, std::string>> values;
  int number = 0;  // in the file, from 1
};

/// The lines of a network.
struct NetworkDescription {
  std::string source;  // file name, for messages
  std::vector<NetworkLine> lines;
};

/// Reads the lines; throws hvd::Error "source:line: why" for what has not their form. Layers are checked when the network is made.
NetworkDescription parse_network(const std::string& text, const std::string& source);

/// What a network is made with in place of what its text says.
class NetworkOptions {
 public:
  /// Shape of one sample, such as {3, 32, 32}.
  NetworkOptions& input(std::vector<int64_t> shape);
  /// Value of a variable (a line of type `set`), such as the number of classes.
  NetworkOptions& set(const std::string& variable, int64_t value);
  /// Bound on the elements of all parameters and buffers (2^32): a text that asks for more is refused before they are allocated.
  NetworkOptions& most_parameters(int64_t count);
  const std::vector<int64_t>& input() const { return input_; }
  int64_t most_parameters() const { return most_parameters_; }
  const std::map<std::string, int64_t>& variables() const { return variables_; }

 private:
  std::vector<int64_t> input_;
  std::map<std::string, int64_t> variables_;
  int64_t most_parameters_ = int64_t{1} << 32;
};

/// A network: children are the layers with parameters, under the names of their lines. forward takes [N, ...input shape]; row i of
/// the result depends on row i of the input alone, unless the network has batch norm.
class NetworkImpl : public Module {
 public:
  /// Throws hvd::Error "source:line: why" for unknown types, keys and names and for shapes that do not fit.
  explicit NetworkImpl(const NetworkDescription& description, const NetworkOptions& options = {});
  Tensor forward(const Tensor& x);

  /// Shapes of one sample.
  const std::vector<int64_t>& input_shape() const { return input_; }
  const std::vector<int64_t>& output_shape() const { return output_; }

 private:
  friend class NetworkBuilder;
  /// What a layer computes from its inputs; `x` is the network's input.
  using Function = std::function<Tensor(const std::vector<Tensor>& inputs, const Tensor& x)>;
  struct Step {
    std::string where;           // "file:line: name", for messages
    std::vector<size_t> inputs;  // numbers of values: 0 the network's input, i + 1 the result of step i
    Function function;
    std::vector<size_t> last_uses;  // values that no later step takes
  };

  std::vector<int64_t> input_, output_;
  std::vector<Step> steps_;
};
HVD_MODULE(Network);

/// The network in a text file.
Network load_network(const std::string& path, const NetworkOptions& options = {});

/// Networks that come with the core: mlp, cnn_small, cnn_medium, vgg1, vgg16, resnet18, resnet34, alexnet, transformer_small,
/// transformer_medium.
namespace networks {

std::vector<std::string> names();
/// The text of such a network, as examples/networks/<name>.net holds it; throws hvd::Error for another name.
std::string text(const std::string& name);
/// The network of that name, or in the file of that name when it has a dot or a slash.
Network open(const std::string& name_or_path, const NetworkOptions& options = {});

Network mlp(const NetworkOptions& options = {});
Network cnn_small(const NetworkOptions& options = {});
Network cnn_medium(const NetworkOptions& options = {});
/// One block of VGG for images of 32 x 32.
Network vgg1(const NetworkOptions& options = {});
/// VGG-16 (Simonyan, Zisserman 2015) with batch norm and one linear layer, for images of 32 x 32.
Network vgg16(const NetworkOptions& options = {});
/// ResNet-18 (He et al. 2016) for images of 32 x 32: a first convolution of 3 x 3 without stride, no pooling behind it.
Network resnet18(const NetworkOptions& options = {});
/// ResNet-34 for images of 224 x 224.
Network resnet34(const NetworkOptions& options = {});
/// AlexNet (Krizhevsky 2014: "One weird trick"), for images of 224 x 224.
Network alexnet(const NetworkOptions& options = {});
/// 4 layers of 256 features and 8 heads over tokens [T]; a class token goes to the classifier.
Network transformer_small(const NetworkOptions& options = {});
/// 8 layers of 512 features and 8 heads over tokens [T], each seeing those before it: the next token at each position.
Network transformer_medium(const NetworkOptions& options = {});

}  // namespace networks
}  // namespace hvd::nn
