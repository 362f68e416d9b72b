// SPDX-License-Identifier: Apache-2.0
//
// The networks that come with the core, as text.
#include <hvd/nn/network.hpp>

#include <map>

namespace hvd::nn::networks {

namespace {

/// Lines in columns.
class Text {
 public:
  Text(const std::string& title, const std::string& shape) : text_("# " + title + "\n") { add("input", "input", "shape=" + shape); }
  Text& add(const std::string& name, const std::string& type, const std::string& values = "") {
    std::string line = pad(name, 12) + type;
    if (!values.empty()) line = pad(line, 34) + values;
    text_ += line + "\n";
    return *this;
  }
  const std::string& str() const { return text_; }

 private:
  static std::string pad(std::string word, size_t width) {
    word.resize(std::max(word.size() + 1, width), ' ');
    return word;
  }
  std::string text_;
};

std::string number(int64_t n) { return std::to_string(n); }

std::string mlp_text() {
  Text t("Three linear layers", "1x28x28");
  t.add("classes", "set", "value=10").add("flat", "flatten");
  t.add("fc1", "linear", "out=512").add("relu1", "relu").add("fc2", "linear", "out=256").add("relu2", "relu").add("fc3", "linear", "out=classes");
  return t.str();
}

std::string cnn_small_text() {
  Text t("Two convolutions", "1x28x28");
  t.add("classes", "set", "value=10");
  t.add("conv1", "conv2d", "out=16 kernel=3 padding=1").add("relu1", "relu").add("pool1", "max_pool2d", "kernel=2");
  t.add("conv2", "conv2d", "out=32 kernel=3 padding=1").add("relu2", "relu").add("pool2", "max_pool2d", "kernel=2");
  t.add("flat", "flatten").add("fc", "linear", "out=classes");
  return t.str();
}

std::string cnn_medium_text() {
  Text t("Four convolutions with batch norm and dropout", "1x28x28");
  t.add("classes", "set", "value=10");
  for (int i = 1; i <= 4; ++i) {
    t.add("conv" + number(i), "conv2d", std::string("out=") + (i < 3 ? "32" : "64") + " kernel=3 padding=1 bias=no");
    t.add("norm" + number(i), "batch_norm").add("relu" + number(i), "relu");
    if (i % 2 == 0) t.add("pool" + number(i / 2), "max_pool2d", "kernel=2").add("drop" + number(i / 2), "dropout", "p=0.25");
  }
  t.add("flat", "flatten").add("fc1", "linear", "out=256").add("relu5", "relu").add("drop3", "dropout", "p=0.5").add("fc2", "linear", "out=classes");
  return t.str();
}

std::string vgg1_text() {
  Text t("VGG with one block, for images of 32 x 32", "3x32x32");
  t.add("classes", "set", "value=10");
  t.add("conv1", "conv2d", "out=32 kernel=3 padding=1").add("relu1", "relu");
  t.add("conv2", "conv2d", "out=32 kernel=3 padding=1").add("relu2", "relu").add("pool", "max_pool2d", "kernel=2");
  t.add("flat", "flatten").add("fc1", "linear", "out=128").add("relu3", "relu").add("fc2", "linear", "out=classes");
  return t.str();
}

std::string vgg16_text() {
  Text t("VGG-16 with batch norm, for images of 32 x 32", "3x32x32");
  t.add("classes", "set", "value=10");
  const std::vector<std::vector<int>> blocks = {{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (size_t i = 0; i < blocks[b].size(); ++i) {
      const std::string at = number(static_cast<int64_t>(b) + 1) + "_" + number(static_cast<int64_t>(i) + 1);
      t.add("conv" + at, "conv2d", "out=" + number(blocks[b][i]) + " kernel=3 padding=1").add("norm" + at, "batch_norm").add("relu" + at, "relu");
    }
    t.add("pool" + number(static_cast<int64_t>(b) + 1), "max_pool2d", "kernel=2");
  }
  t.add("flat", "flatten").add("fc", "linear", "out=classes");
  return t.str();
}

/// Two convolutions, and their sum with what came in.
void residual_block(Text& t, const std::string& at, int channels, int stride, bool project) {
  const std::string out = "out=" + number(channels), by = stride > 1 ? " stride=" + number(stride) : "";
  t.add("in" + at, "split");
  t.add("conv" + at + "a", "conv2d", out + " kernel=3" + by + " padding=1 bias=no").add("norm" + at + "a", "batch_norm").add("relu" + at + "a", "relu");
  t.add("conv" + at + "b", "conv2d", out + " kernel=3 padding=1 bias=no").add("norm" + at + "b", "batch_norm");
  if (project) {
    t.add("conv" + at + "s", "conv2d", "from=in" + at + " " + out + " kernel=1" + by + " bias=no").add("norm" + at + "s", "batch_norm");
    t.add("sum" + at, "add", "from=norm" + at + "b with=norm" + at + "s");
  } else {
    t.add("sum" + at, "add", "with=in" + at);
  }
  t.add("relu" + at, "relu");
}

void residual_stages(Text& t, const std::vector<int>& blocks) {
  for (size_t s = 0; s < blocks.size(); ++s)
    for (int b = 0; b < blocks[s]; ++b)
      residual_block(t, number(static_cast<int64_t>(s) + 1) + "_" + number(b + 1), 64 << s, s > 0 && b == 0 ? 2 : 1, s > 0 && b == 0);
  t.add("pool", "adaptive_avg_pool2d", "size=1").add("flat", "flatten").add("fc", "linear", "out=classes");
}

std::string resnet18_text() {
  Text t("ResNet-18 for images of 32 x 32", "3x32x32");
  t.add("classes", "set", "value=10");
  t.add("conv0", "conv2d", "out=64 kernel=3 padding=1 bias=no").add("norm0", "batch_norm").add("relu0", "relu");
  residual_stages(t, {2, 2, 2, 2});
  return t.str();
}

std::string resnet34_text() {
  Text t("ResNet-34 for images of 224 x 224", "3x224x224");
  t.add("classes", "set", "value=1000");
  t.add("conv0", "conv2d", "out=64 kernel=7 stride=2 padding=3 bias=no").add("norm0", "batch_norm").add("relu0", "relu");
  t.add("pool0", "max_pool2d", "kernel=3 stride=2 padding=1");
  residual_stages(t, {3, 4, 6, 3});
  return t.str();
}

std::string alexnet_text() {
  Text t("AlexNet, in the form of 2014, for images of 224 x 224", "3x224x224");
  t.add("classes", "set", "value=1000");
  t.add("conv1", "conv2d", "out=64 kernel=11 stride=4 padding=2").add("relu1", "relu").add("pool1", "max_pool2d", "kernel=3 stride=2");
  t.add("conv2", "conv2d", "out=192 kernel=5 padding=2").add("relu2", "relu").add("pool2", "max_pool2d", "kernel=3 stride=2");
  t.add("conv3", "conv2d", "out=384 kernel=3 padding=1").add("relu3", "relu");
  t.add("conv4", "conv2d", "out=256 kernel=3 padding=1").add("relu4", "relu");
  t.add("conv5", "conv2d", "out=256 kernel=3 padding=1").add("relu5", "relu").add("pool3", "max_pool2d", "kernel=3 stride=2");
  t.add("pool4", "adaptive_avg_pool2d", "size=6").add("flat", "flatten");
  t.add("drop1", "dropout").add("fc1", "linear", "out=4096").add("relu6", "relu");
  t.add("drop2", "dropout").add("fc2", "linear", "out=4096").add("relu7", "relu").add("fc3", "linear", "out=classes");
  return t.str();
}

std::string transformer_small_text() {
  Text t("Transformer that classifies sequences of tokens; token 0 is padding", "128");
  t.add("classes", "set", "value=2").add("vocabulary", "set", "value=8192");
  t.add("tokens", "embedding", "rows=vocabulary dim=256 padding=0").add("places", "positional_encoding").add("cls", "class_token");
  t.add("drop", "dropout", "p=0.1");
  for (int i = 1; i <= 4; ++i)
    t.add("layer" + number(i), "transformer_encoder", "heads=8 hidden=1024 activation=gelu norm_first=yes padding=0");
  t.add("norm", "layer_norm").add("first", "first_token").add("head", "linear", "out=classes");
  return t.str();
}

std::string transformer_medium_text() {
  Text t("Transformer language model: the next token at each position", "128");
  t.add("vocabulary", "set", "value=8192");
  t.add("tokens", "embedding", "rows=vocabulary dim=512").add("places", "learned_positions").add("drop", "dropout", "p=0.1");
  for (int i = 1; i <= 8; ++i)
    t.add("layer" + number(i), "transformer_encoder", "heads=8 hidden=2048 activation=gelu norm_first=yes causal=yes");
  t.add("norm", "layer_norm").add("head", "linear", "out=vocabulary bias=no");
  return t.str();
}

const std::map<std::string, std::string (*)()>& texts() {
  static const std::map<std::string, std::string (*)()> known = {
      {"mlp", mlp_text}, {"cnn_small", cnn_small_text}, {"cnn_medium", cnn_medium_text}, {"vgg1", vgg1_text}, {"vgg16", vgg16_text},
      {"resnet18", resnet18_text}, {"resnet34", resnet34_text}, {"alexnet", alexnet_text}, {"transformer_small", transformer_small_text},
      {"transformer_medium", transformer_medium_text},
  };
  return known;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, make] : texts()) out.push_back(name);
  return out;
}

std::string text(const std::string& name) {
  const auto found = texts().find(name);
  if (found != texts().end()) return found->second();
  std::string list;
  for (const std::string& known : names()) list += (list.empty() ? "" : ", ") + known;
  throw Error("no network '" + name + "'; known are " + list + ", and the path of a text file");
}

Network open(const std::string& name_or_path, const NetworkOptions& options) {
  if (name_or_path.find_first_of("./") != std::string::npos) return load_network(name_or_path, options);
  return Network(parse_network(text(name_or_path), name_or_path), options);
}

Network mlp(const NetworkOptions& options) { return open("mlp", options); }
Network cnn_small(const NetworkOptions& options) { return open("cnn_small", options); }
Network cnn_medium(const NetworkOptions& options) { return open("cnn_medium", options); }
Network vgg1(const NetworkOptions& options) { return open("vgg1", options); }
Network vgg16(const NetworkOptions& options) { return open("vgg16", options); }
Network resnet18(const NetworkOptions& options) { return open("resnet18", options); }
Network resnet34(const NetworkOptions& options) { return open("resnet34", options); }
Network alexnet(const NetworkOptions& options) { return open("alexnet", options); }
Network transformer_small(const NetworkOptions& options) { return open("transformer_small", options); }
Network transformer_medium(const NetworkOptions& options) { return open("transformer_medium", options); }

}  // namespace hvd::nn::networks
