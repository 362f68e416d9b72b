// SPDX-License-Identifier: Apache-2.0
//
// The floor of a training step: its convolutions and matrix products alone, each as oneDNN's own primitive in the layouts that it prefers,
// made beforehand. Layers between them, the update of the parameters and all copies are left out.
#include "side.h"

#include <dnnl.hpp>

#include <functional>
#include <unordered_map>

namespace {

using dnnl::memory;

struct Convolution {
  int64_t times, channels, size, out, kernel, stride;
  bool first;  // its input takes no gradient
};

/// `count` products [m, k] [k, n] in one call, `times` of them.
struct Product {
  int64_t times, count, m, n, k;
};

struct Parts {
  std::vector<Convolution> convolutions;
  std::vector<Product> products;
};

/// Forward, and the gradients of both operands.
void add_layer(Parts& parts, int64_t times, int64_t count, int64_t m, int64_t n, int64_t k) {
  parts.products.insert(parts.products.end(), {{times, count, m, n, k}, {times, count, m, k, n}, {times, count, n, k, m}});
}

Parts resnet18() {
  Parts parts;
  parts.convolutions = {{1, 3, 32, 64, 3, 1, true}, {4, 64, 32, 64, 3, 1, false}};
  for (int64_t channels = 64, size = 32; channels < 512; channels *= 2, size /= 2) {
    parts.convolutions.push_back({1, channels, size, 2 * channels, 3, 2, false});
    parts.convolutions.push_back({1, channels, size, 2 * channels, 1, 2, false});
    parts.convolutions.push_back({3, 2 * channels, size / 2, 2 * channels, 3, 1, false});
  }
  add_layer(parts, 1, 1, 32, 10, 512);
  return parts;
}

Parts transformer_small() {
  Parts parts;
  const int64_t rows = 16 * 129;
  add_layer(parts, 4, 1, rows, 768, 256);
  add_layer(parts, 4, 128, 129, 129, 32);
  add_layer(parts, 4, 128, 129, 32, 129);
  add_layer(parts, 4, 1, rows, 256, 256);
  add_layer(parts, 4, 1, rows, 1024, 256);
  add_layer(parts, 4, 1, rows, 256, 1024);
  return parts;
}

Parts parts_of(const std::string& network) {
  Parts parts;
  if (network == "resnet18") return resnet18();
  if (network == "transformer_small") return transformer_small();
  if (network == "mlp") {
    parts.products = {{1, 1, 64, 512, 784}, {1, 1, 512, 784, 64}};  // the pictures take no gradient
    add_layer(parts, 1, 1, 64, 256, 512);
    add_layer(parts, 1, 1, 64, 10, 256);
  } else if (network == "cnn_small") {
    parts.convolutions = {{1, 1, 28, 16, 3, 1, true}, {1, 16, 14, 32, 3, 1, false}};
    add_layer(parts, 1, 1, 64, 10, 32 * 49);
  } else if (network == "cnn_medium") {
    parts.convolutions = {{1, 1, 28, 32, 3, 1, true}, {1, 32, 28, 32, 3, 1, false}, {1, 32, 14, 64, 3, 1, false}, {1, 64, 14, 64, 3, 1, false}};
    add_layer(parts, 1, 1, 64, 256, 64 * 49);
    add_layer(parts, 1, 1, 64, 10, 256);
  } else {
    throw std::runtime_error("no network '" + network + "'");
  }
  return parts;
}

class Runner {
 public:
  void add(const Convolution& c, int64_t batch) {
    const int64_t pad = c.kernel / 2, outputs = (c.size + 2 * pad - c.kernel) / c.stride + 1;
    const memory::dims by = {c.stride, c.stride}, around = {pad, pad}, after = {(outputs - 1) * c.stride + c.kernel - c.size - pad, (outputs - 1) * c.stride + c.kernel - c.size - pad};
    const memory::desc x = any({batch, c.channels, c.size, c.size}), w = any({c.out, c.channels, c.kernel, c.kernel}), y = any({batch, c.out, outputs, outputs});
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc forward({dnnl::prop_kind::forward_training, direct, x, w, y, by, around, after}, engine_);
    add(c.times, dnnl::convolution_forward(forward), {{DNNL_ARG_SRC, forward.src_desc()}, {DNNL_ARG_WEIGHTS, forward.weights_desc()}, {DNNL_ARG_DST, forward.dst_desc()}});
    const dnnl::convolution_backward_weights::primitive_desc weights({direct, x, w, y, by, around, after}, engine_, forward);
    add(c.times, dnnl::convolution_backward_weights(weights),
        {{DNNL_ARG_SRC, weights.src_desc()}, {DNNL_ARG_DIFF_WEIGHTS, weights.diff_weights_desc()}, {DNNL_ARG_DIFF_DST, weights.diff_dst_desc()}});
    if (c.first) return;
    const dnnl::convolution_backward_data::primitive_desc data({direct, x, w, y, by, around, after}, engine_, forward);
    add(c.times, dnnl::convolution_backward_data(data),
        {{DNNL_ARG_DIFF_SRC, data.diff_src_desc()}, {DNNL_ARG_WEIGHTS, data.weights_desc()}, {DNNL_ARG_DIFF_DST, data.diff_dst_desc()}});
  }
  void add(const Product& p) {
    const dnnl::matmul::primitive_desc desc({any({p.count, p.m, p.k}), any({p.count, p.k, p.n}), any({p.count, p.m, p.n})}, engine_);
    add(p.times, dnnl::matmul(desc), {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  }
  void step() {
    for (Call& call : calls_)
      for (int64_t i = 0; i < call.times; ++i) call.primitive.execute(stream_, call.arguments);
    stream_.wait();
  }

 private:
  struct Call {
    int64_t times;
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };
  static memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }
  void add(int64_t times, const dnnl::primitive& primitive, const std::unordered_map<int, memory::desc>& descs) {
    Call call = {times, primitive, {}};
    for (const auto& [argument, desc] : descs) {
      const memory made(desc, engine_);
      std::fill_n(static_cast<float*>(made.get_data_handle()), desc.get_size() / sizeof(float), 0.5f);
      call.arguments.emplace(argument, made);
    }
    calls_.push_back(call);
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<Call> calls_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const side::Options options(argc, argv);
    const side::Task task = side::task_of(options.text("--network", "mlp"));
    const Parts parts = parts_of(task.network);
    Runner runner;
    for (const Convolution& c : parts.convolutions) runner.add(c, task.batch);
    for (const Product& p : parts.products) runner.add(p);
    const auto step = [&](int, bool) {
      runner.step();
      return 0.0;
    };
    side::measure(options, 0, step, [] {}, [] {});
    std::printf("}\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-bench-train-roofline: %s\n", error.what());
    return 1;
  }
  return 0;
}
