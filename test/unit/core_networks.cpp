// SPDX-License-Identifier: Apache-2.0
//
// Networks from text: the format and its errors, the networks that come with the core and their published sizes.
#include "test/unit/core_support.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace core_networks_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace nn = hvd::nn;
namespace networks = hvd::nn::networks;

nn::Network network(const std::string& text, const nn::NetworkOptions& options = {}) {
  return nn::Network(nn::parse_network(text, "net"), options);
}

std::string error_of(const std::string& text, const nn::NetworkOptions& options = {}) {
  try {
    network(text, options);
  } catch (const hvd::Error& error) {
    return error.what();
  }
  return "no error";
}

int64_t parameters_of(const nn::Network& net) {
  int64_t count = 0;
  for (const Tensor& p : net->parameters()) count += p.numel();
  return count;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::string networks_folder() { return std::string(HVD_TEST_SOURCE_DIR) + "/../examples/networks/"; }

TEST(CoreNetworks, FilesHoldTheTextsOfTheNetworks) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(networks_folder())) files += entry.path().extension() == ".net";
  EXPECT_EQ(files, networks::names().size());
  for (const std::string& name : networks::names()) EXPECT_EQ(file_text(networks_folder() + name + ".net"), networks::text(name)) << name;
}

TEST(CoreNetworks, SizesAreThePublishedOnes) {
  const Defaults defaults;
  // Liu's VGG-16 and ResNet-18 for CIFAR-10; torchvision's ResNet-34 and AlexNet; the one-block VGG of Brownlee's CIFAR-10 models.
  const std::vector<std::pair<std::string, int64_t>> published = {
      {"vgg16", 14728266}, {"resnet18", 11173962}, {"resnet34", 21797672}, {"alexnet", 61100840}, {"vgg1", 1060138}};
  for (const auto& [name, count] : published) EXPECT_EQ(parameters_of(networks::open(name)), count) << name;
  EXPECT_EQ(parameters_of(networks::mlp()), 784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10);
}

TEST(CoreNetworks, TransformerBlocksHaveTheSizeOfThoseOfGpt2) {
  const Defaults defaults;
  int64_t count = 0;
  for (const Tensor& p : nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(768, 12).dim_feedforward(3072))->parameters()) count += p.numel();
  EXPECT_EQ(count, 7087872);
  const int64_t d = 512, v = 64;
  EXPECT_EQ(parameters_of(networks::transformer_medium(nn::NetworkOptions().set("vocabulary", v))), 8 * (12 * d * d + 13 * d) + 2 * v * d + 128 * d + 2 * d);
}

TEST(CoreNetworks, EveryNetworkTrains) {
  const Defaults defaults;
  for (const std::string name : {"mlp", "cnn_small", "cnn_medium", "vgg1", "resnet18", "transformer_small", "transformer_medium"}) {
    const bool tokens = name.rfind("transformer", 0) == 0;
    nn::NetworkOptions options;
    if (tokens) options.input({5}).set("vocabulary", 20);
    const nn::Network net = networks::open(name, options);
    std::vector<int64_t> shape = net->input_shape();
    shape.insert(shape.begin(), 2);
    const Tensor x = tokens ? hvd::tensor({1, 2, 3, 0, 0, 4, 5, 6, 7, 0}).view({2, 5}) : hvd::rand(shape);
    const Tensor y = net(x);
    std::vector<int64_t> expected = net->output_shape();
    expected.insert(expected.begin(), 2);
    EXPECT_EQ(y.sizes(), expected) << name;
    y.square().mean().backward();
    for (const auto& [key, p] : net->named_parameters()) EXPECT_TRUE(p.grad().defined()) << name << ' ' << key;
  }
}

TEST(CoreNetworks, LayersBranchAndJoin) {
  const Defaults defaults;
  const nn::Network net = network("in input shape=2x4x4\n"
                                  "a conv2d out=3 kernel=3 padding=1  # comment\n"
                                  "\n"
                                  "b split\n"
                                  "c relu\n"
                                  "d conv2d from=b out=3 kernel=1\n"
                                  "e add with=c,b\n"
                                  "f cat from=e with=in\n");
  const Tensor x = hvd::randn({2, 2, 4, 4});
  const auto find = [&](const std::string& name) {
    for (const auto& child : net->named_children())
      if (child.name == name) return std::dynamic_pointer_cast<nn::Conv2dImpl>(child.module);
    return std::shared_ptr<nn::Conv2dImpl>();
  };
  const Tensor b = find("a")->forward(x);
  EXPECT_TRUE(hvd::equal(net(x), hvd::cat({find("d")->forward(b) + b.relu() + b, x}, 1)));
  EXPECT_EQ(net->output_shape(), (std::vector<int64_t>{5, 4, 4}));
}

TEST(CoreNetworks, RunOnEveryDevice) {
  const Defaults defaults;
  const auto result = [](hvd::Device device, hvd::Dtype dtype, int64_t rows) {
    hvd::manual_seed(8);
    const nn::Network net = network("in input shape=2x5x7\na conv2d out=3 kernel=3 padding=1\nb relu\nc add with=a\nd flatten\ne linear out=4\n");
    const Tensor x = hvd::randn({3, 2, 5, 7}).narrow(0, 0, rows);
    net->to(dtype);
    net->to(device);
    return net(x.to(device, dtype));
  };
  for (int64_t rows : {3, 1, 0}) {
    const Tensor reference = result(hvd::kCPU, hvd::kFloat64, rows);
    EXPECT_EQ(reference.sizes(), (std::vector<int64_t>{rows, 4}));
    for (hvd::Device device : hvd::available_devices())
      for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64})
        EXPECT_LT(core_tests::difference(result(device, dtype, rows), reference), dtype == hvd::kFloat32 ? 1e-5 : 1e-13) << device.name() << ' ' << hvd::dtype_name(dtype);
  }
}

TEST(CoreNetworks, OptionsChangeInputAndVariables) {
  const Defaults defaults;
  const nn::Network net = networks::cnn_small(nn::NetworkOptions().input({3, 20, 12}).set("classes", 7));
  EXPECT_EQ(net(hvd::zeros({2, 3, 20, 12})).sizes(), (std::vector<int64_t>{2, 7}));
  EXPECT_THROW(net(hvd::zeros({2, 1, 28, 28})), hvd::Error);
}

TEST(CoreNetworks, PaddedTokensAreNotSeen) {
  const Defaults defaults;
  const nn::NetworkOptions longer = nn::NetworkOptions().input({6}).set("vocabulary", 20), shorter = nn::NetworkOptions().input({4}).set("vocabulary", 20);
  hvd::manual_seed(3);
  const nn::Network a = networks::transformer_small(longer);
  hvd::manual_seed(3);
  const nn::Network b = networks::transformer_small(shorter);
  a->eval();
  b->eval();
  const Tensor x = hvd::tensor({3, 1, 4, 7, 0, 0}).view({1, 6});
  EXPECT_LT(core_tests::difference(a(x), b(x.narrow(1, 0, 4))), 1e-5);
}

TEST(CoreNetworks, ErrorsNameTheLine) {
  const std::string in = "x input shape=1x8x8\n";
  EXPECT_EQ(error_of(in + "a convolution out=3\n").substr(0, 38), "net:2: a: unknown type 'convolution'; ");
  EXPECT_EQ(error_of(in + "a linear\n"), "net:2: a: 'out' is missing");
  EXPECT_EQ(error_of(in + "\n# more\na linear out=3 bias=maybe\n"), "net:4: a: bias=maybe: one of no, yes expected");
  EXPECT_EQ(error_of(in + "a linear out=3 units=4\n"), "net:2: a: a layer of type 'linear' has no 'units'");
  EXPECT_EQ(error_of(in + "a linear out=classes\n"), "net:2: a: out=classes: a whole number of at most 9 digits or a variable expected");
  EXPECT_EQ(error_of(in + "a linear out=3\na relu\n"), "net:3: a: the name is used already");
  EXPECT_EQ(error_of(in + "a relu from=b\n"), "net:2: a: no line before this one is named 'b'");
  EXPECT_EQ(error_of(in + "a flatten\nb add with=x\n"), "net:3: b: shapes [64] and [1, 8, 8] are added");
  EXPECT_EQ(error_of(in + "a conv2d out=3 kernel=9\n"), "net:2: a: a window of 9 does not fit into 8 pixels");
  EXPECT_EQ(error_of(in + "a linear out\n"), "net:2: 'out' is not key=value");
  EXPECT_EQ(error_of(in + "a linear out=1 out=2\n"), "net:2: 'out' is given twice");
  EXPECT_EQ(error_of(in + "a.b linear out=1\n"), "net:2: 'a.b' is no name: letters, digits and underscores expected");
  EXPECT_EQ(error_of(in + "a\n"), "net:2: 'a' has no type; a line is: name type key=value ...");
  EXPECT_EQ(error_of("a relu\n"), "net:1: a: the first layer is one of type 'input'");
  EXPECT_EQ(error_of(in), "net: no input and a layer at least");
  EXPECT_EQ(error_of(in + "a conv2d out=4 kernel=3 groups=3\n").find("net:2: a: Conv2d"), 0u);
  EXPECT_EQ(error_of(in + "a linear out=999999999999\n").find("net:2: a: out=999999999999: a whole number of at most 9 digits"), 0u);
  EXPECT_EQ(error_of(in + "a relu\n", nn::NetworkOptions().set("classes", 3)), "net: no line of type 'set' declares a variable 'classes'");
  EXPECT_EQ(error_of(std::string("x input\0", 8)), "net:1: not a text file");
  EXPECT_THROW(nn::load_network(networks_folder() + "none.net"), hvd::Error);
  EXPECT_THROW(networks::open("resnet19"), hvd::Error);
}

TEST(CoreNetworks, HostileSizesAreRefusedBeforeTheyAreAllocated) {
  const std::string in = "x input shape=8x8x8\n";
  EXPECT_EQ(error_of(in + "a linear out=999999999\n"),
            "net:2: a: a tensor [999999999, 8] is larger than the 4294967296 elements that are allowed here");
  EXPECT_EQ(error_of(in + "a conv2d out=999999999 kernel=1\n").find("net:2: a: a tensor [999999999, 8, 1, 1] is larger"), 0u);
  EXPECT_EQ(error_of(in + "a conv_transpose2d out=2 kernel=3 stride=999999999\n").find("net:2: a: a shape [2, "), 0u);
  EXPECT_EQ(error_of("x input shape=999999999x999999999\na relu\n"), "net:1: x: a shape [999999999, 999999999]");
  EXPECT_EQ(error_of(in + "a linear out=100\nb linear out=100\n", nn::NetworkOptions().most_parameters(5000)).find("net:3: b: a tensor [100, 100] is larger"), 0u);
  EXPECT_EQ(error_of(in + "a linear out=100\nb linear out=10\nc linear out=9\n", nn::NetworkOptions().most_parameters(2000)),
            "net:4: c: the network has more than 2000 parameters");
  EXPECT_EQ(hvd::context().largest_tensor, INT64_MAX);  // the bound ends with the network
  EXPECT_THROW(hvd::zeros({0, INT64_MAX, INT64_MAX}), hvd::Error);
  EXPECT_THROW(hvd::zeros({INT64_MAX / 2, 3}), hvd::Error);
}

}  // namespace
}  // namespace core_networks_test
