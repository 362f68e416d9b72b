// SPDX-License-Identifier: Apache-2.0
//
// hvd-bench-device: how long operations take on each device. One line of JSON for each measurement:
//   {"operation": "matmul", "device": "cudnn", "dtype": "bfloat16", "shape": "4096x4096x4096", "seconds": 1.9e-4, "flops": .., "bytes": ..}
// `seconds` is the median of the rounds; `flops` and `bytes` are what the operation must do and must move at least: each input read once,
// each output written once. usage: hvd-bench-device [--device NAME]... [--seconds PER_MEASUREMENT] [--quick] [--describe: the GPU, no measurements]
#include <hvd/device.hpp>
#include <hvd/hvd.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using hvd::Tensor;
using hvd::TensorOptions;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<hvd::Device> devices;
  double seconds = 0.2;  // for each measurement
  bool quick = false, describe = false;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Median of the rounds after two that warm up. A round is as many operations one after the other as take two milliseconds: on a GPU a wait
/// for the end of one would count for as much as the operation.
double median_time(const Settings& settings, const std::function<void()>& operation) {
  const auto round = [&](int count) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < count; ++i) operation();
    hvd::synchronize();
    return since(start) / count;
  };
  round(1);
  const int count = static_cast<int>(std::clamp(2e-3 / round(1), 1.0, 100.0));
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  do times.push_back(round(count));
  while (since(start) < settings.seconds || times.size() < 3);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Work {
  std::string operation, shape;
  double flops, bytes;
};

void report(const Settings& settings, const Work& work, hvd::Device device, hvd::Dtype dtype, const std::function<void()>& operation) {
  double seconds = 0;
  try {
    seconds = median_time(settings, operation);
  } catch (const hvd::Error& error) {
    std::fprintf(stderr, "%s %s on %s: %s\n", work.operation.c_str(), work.shape.c_str(), device.name().c_str(), error.what());
    return;
  }
  std::printf("{\"operation\": \"%s\", \"device\": \"%s\", \"dtype\": \"%s\", \"shape\": \"%s\", \"seconds\": %.4e, \"flops\": %.4e, \"bytes\": %.4e}\n",
              work.operation.c_str(), device.name().c_str(), hvd::dtype_name(dtype), work.shape.c_str(), seconds, work.flops, work.bytes);
  std::fflush(stdout);
}

Tensor drawn(std::vector<int64_t> shape, hvd::Device device, hvd::Dtype dtype) {
  return hvd::empty(shape, TensorOptions(hvd::kFloat32).device(device)).normal_().to(dtype);
}

/// The reference device multiplies in plain loops: sizes that take it minutes are left out.
bool too_slow(hvd::Device device, double flops) { return device == hvd::Device(hvd::kCPU) && flops > 3e8; }

void matmul(const Settings& settings, hvd::Device device, hvd::Dtype dtype) {
  for (const int64_t n : {64, 256, 1024, 2048, 4096, 8192}) {
    const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    if (too_slow(device, flops) || (settings.quick && n > 1024) || (n > 2048 && hvd::Device(hvd::kOneDNN) == device)) continue;
    const Tensor a = drawn({n, n}, device, dtype), b = drawn({n, n}, device, dtype);
    const std::string side = std::to_string(n);
    report(settings, {"matmul", side + "x" + side + "x" + side, flops, 3.0 * static_cast<double>(n * n) * static_cast<double>(hvd::dtype_size(dtype))}, device,
           dtype, [&] { a.mm(b); });
  }
}

struct Layer {
  int64_t n, c, side, k, kernel;
};

void convolution(const Settings& settings, hvd::Device device, hvd::Dtype dtype) {
  for (const Layer& l : {Layer{64, 3, 32, 64, 3}, Layer{64, 64, 32, 64, 3}, Layer{64, 128, 16, 128, 3}, Layer{256, 64, 32, 64, 3}, Layer{256, 512, 8, 512, 3}}) {
    const double products = static_cast<double>(l.n * l.k * l.c * l.kernel * l.kernel * l.side * l.side), flops = 2 * products;
    if (too_slow(device, flops) || (settings.quick && l.n > 64)) continue;
    const Tensor x = drawn({l.n, l.c, l.side, l.side}, device, dtype).requires_grad_(), w = drawn({l.k, l.c, l.kernel, l.kernel}, device, dtype).requires_grad_();
    const std::string shape = std::to_string(l.n) + "x" + std::to_string(l.c) + "x" + std::to_string(l.side) + "x" + std::to_string(l.side) + " to " + std::to_string(l.k);
    const double moved = static_cast<double>(x.numel() + w.numel() + l.n * l.k * l.side * l.side) * static_cast<double>(hvd::dtype_size(dtype));
    const auto forward = [&] { return hvd::nn::functional::conv2d(x, w, {}, 1, l.kernel / 2); };
    report(settings, {"conv2d", shape, flops, moved}, device, dtype, [&] {
      const hvd::NoGradGuard no_grad;
      forward();
    });
    const Tensor g = drawn({l.n, l.k, l.side, l.side}, device, dtype);
    report(settings, {"conv2d and gradients", shape, 3 * flops, 3 * moved}, device, dtype, [&] {
      x.mutable_grad() = w.mutable_grad() = Tensor();
      (forward() * g).sum().backward();
    });
  }
}

/// Operations that only move memory.
void memory_bound(const Settings& settings, hvd::Device device, hvd::Dtype dtype) {
  const int64_t rows = settings.quick ? 1024 : 16384, columns = 1024;
  const Tensor x = drawn({rows, columns}, device, dtype), y = drawn({rows, columns}, device, dtype), weight = drawn({columns}, device, dtype);
  const double one = static_cast<double>(x.numel() * static_cast<int64_t>(hvd::dtype_size(dtype)));
  const std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  const auto row = [&](const char* name, double tensors, const std::function<void()>& f) { report(settings, {name, shape, 0, tensors * one}, device, dtype, f); };
  row("copy", 2, [&] { x.clone(); });
  row("add", 3, [&] { x + y; });
  row("relu", 2, [&] { x.relu(); });
  row("gelu", 2, [&] { hvd::nn::functional::gelu(x); });
  row("sum", 1, [&] { x.sum(); });
  row("sum of columns", 1, [&] { x.sum(0); });
  row("softmax", 2, [&] { x.softmax(1); });
  row("layer_norm", 2, [&] { hvd::nn::functional::layer_norm(x, {columns}, weight, weight); });
  row("dropout", 2.25, [&] { hvd::dropout(x, 0.1, true); });
}

/// Steps of a network on drawn images, as they are and repeated by hvd::StepGraph: samples in a second are batch / seconds.
void training(const Settings& settings, hvd::Device device, const std::string& network, int64_t batch) {
  hvd::nn::Network model = hvd::nn::networks::open(network, hvd::nn::NetworkOptions().input({3, 32, 32}).set("classes", 10));
  model->to(device);
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.01).momentum(0.9));
  const Tensor x = drawn({batch, 3, 32, 32}, device, hvd::kFloat32), y = hvd::randint(0, 10, {batch}, TensorOptions(hvd::kInt64).device(device));
  hvd::nn::CrossEntropyLoss criterion;
  const std::string shape = network + ", batch " + std::to_string(batch);
  const hvd::StepGraph::Step step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    optimizer.zero_grad();
    const Tensor loss = criterion(model(in[0]), in[1]);
    loss.backward();
    optimizer.step();
    return {loss};
  };
  report(settings, {"training step", shape, 0, 0}, device, hvd::kFloat32, [&] { step({x, y}); });
  hvd::StepGraph noted(step, 1);
  report(settings, {"training step, noted", shape, 0, 0}, device, hvd::kFloat32, [&] { noted({x, y}); });
}

void measure(const Settings& settings, hvd::Device device) {
  const bool gpu = device == hvd::Device(hvd::kCUBLAS) || device == hvd::Device(hvd::kCUDNN);
  std::vector<hvd::Dtype> dtypes = {hvd::kFloat32};
  if (gpu) dtypes.push_back(hvd::kBFloat16);
  for (const hvd::Dtype dtype : dtypes) {
    matmul(settings, device, dtype);
    convolution(settings, device, dtype);
    memory_bound(settings, device, dtype);
  }
  if (device == hvd::Device(hvd::kCPU)) return;
  training(settings, device, "cnn_small", settings.quick ? 32 : 128);
  if (gpu) training(settings, device, "cnn_small", 8);  // where the host has more to do than the GPU
  if (gpu && !settings.quick) training(settings, device, "resnet18", 512);
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick")
      settings.quick = true;
    else if (name == "--describe")
      settings.describe = true;
    else if (name == "--device" && i + 1 < argc)
      settings.devices.emplace_back(argv[++i]);
    else if (name == "--seconds" && i + 1 < argc)
      settings.seconds = std::atof(argv[++i]);
    else
      throw hvd::Error("usage: hvd-bench-device [--device NAME]... [--seconds PER_MEASUREMENT] [--quick] [--describe]");
  }
  if (settings.devices.empty() && !settings.describe) settings.devices = hvd::available_devices();
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = settings_of(argc, argv);
    hvd::manual_seed(1);
    std::fprintf(stderr, "GPU: %s\n", hvd::describe_gpu().c_str());
    for (const hvd::Device device : settings.devices) measure(settings, device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-bench-device: %s\n", error.what());
    return 1;
  }
  return 0;
}
