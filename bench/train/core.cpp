// SPDX-License-Identifier: Apache-2.0
//
// The training benchmark's side of the core: a network that comes with it, on device onednn, float32. bench/train/torch.cpp is the other.
#include "loading.h"
#include "samples.h"
#include "side.h"

#include <hvd/hvd.hpp>
#include <hvd/nn/network.hpp>

#include <cstring>
#include <regex>

using hvd::Tensor;
namespace nn = hvd::nn;

namespace {

/// Without dropout, so that the losses of both sides can be compared.
std::string without_dropout(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex(R"(\bp=[0-9.]+)"), "p=0");
  return std::regex_replace(plain, std::regex("norm_first=yes"), "norm_first=yes dropout=0");
}

nn::Network make_network(const side::Task& task, bool dropout) {
  const std::string text = nn::networks::text(task.network);
  return nn::Network(nn::parse_network(dropout ? text : without_dropout(text), task.network));
}

void write_weights(const nn::Network& model, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  for (const Tensor& p : model->parameters()) {
    const Tensor values = p.detach().contiguous();
    out.write(reinterpret_cast<const char*>(values.data_ptr<float>()), values.numel() * static_cast<int64_t>(sizeof(float)));
  }
  if (!out) throw std::runtime_error("cannot write '" + file + "'");
}

struct Example {
  Tensor data, target;
};

Tensor numbers(const void* values, const std::vector<int64_t>& shape, hvd::Dtype dtype) {
  const Tensor t = hvd::empty(shape, hvd::TensorOptions(dtype));
  std::memcpy(t.raw_data(), values, static_cast<size_t>(t.numel()) * (dtype == hvd::kFloat32 ? sizeof(float) : sizeof(int64_t)));
  return t;
}

std::vector<Example> as_tensors(const std::vector<side::Batch>& batches, const side::Task& task) {
  std::vector<Example> out;
  for (const side::Batch& b : batches) {
    const bool pictures = task.vocabulary == 0;
    out.push_back({numbers(pictures ? static_cast<const void*>(b.pictures.data()) : b.tokens.data(), task.shape(), pictures ? hvd::kFloat32 : hvd::kInt64),
                   numbers(b.labels.data(), {task.batch}, hvd::kInt64)});
  }
  return out;
}

void print_shares() {
  std::printf(", \"samples\": {");
  bool first = true;
  for (const auto& [library, count] : side::Samples::by_library()) {
    std::printf("%s\"%s\": %d", first ? "" : ", ", library.c_str(), count);
    first = false;
  }
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const side::Options options(argc, argv);
    const side::Task task = side::task_of(options.text("--network", "mlp"));
    if (const std::string folder = options.text("--loader", ""); !folder.empty()) {
      hvd::set_num_threads(1);
      side::measure_loading(folder, options.number("--workers", 1), options.number("--samples", 2000));
      return 0;
    }
    const bool sampled = options.text("--sampled", "no") == "yes";
    hvd::set_num_threads(options.number("--threads", 1));
    hvd::manual_seed(1);
    nn::Network model = make_network(task, options.text("--losses", "no") != "yes");
    if (const std::string file = options.text("--write-weights", ""); !file.empty()) write_weights(model, file);
    hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.0005));
    const std::vector<Example> examples = as_tensors(side::make_batches(task, 4), task);
    int64_t parameters = 0;
    for (const Tensor& p : model->parameters()) parameters += p.numel();
    const auto step = [&](int i, bool losses) {
      const Example& example = examples[i % examples.size()];
      optimizer.zero_grad();
      const Tensor loss = nn::functional::cross_entropy(model->forward(example.data), example.target);
      loss.backward();
      optimizer.step();
      return losses ? loss.item<double>() : 0.0;
    };
    side::measure(
        options, parameters, step, [&] { if (sampled) side::Samples::start(); }, [&] { if (sampled) side::Samples::stop(); });
    if (sampled) print_shares();
    std::printf("}\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-bench-train: %s\n", error.what());
    return 1;
  }
  return 0;
}
