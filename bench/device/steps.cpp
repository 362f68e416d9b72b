// SPDX-License-Identifier: Apache-2.0
//
// hvd-bench-steps: training steps on a GPU at the sizes that users train at. One line of JSON for each measurement, as bench/device/peers.py's, whose
// networks, batches, optimizers and precisions are these:
//   {"side": "hvdize", "network": "resnet18", "form": "steps", "precision": "bf16", "batch": 512, "units": 512, "seconds": .., "host_seconds": ..,
//    "bytes": .., "loss": ..}
// `units`: samples, or tokens of a language model, of a step. `seconds`: the median of a step's time over rounds of several steps without a wait between them.
// `host_seconds`: how long the host takes to ask for a step. `bytes`: peak of the GPU's memory in use. `loss`: after the last step.
// `form`: "steps" as they are, "noted" repeated by hvd::StepGraph.
// usage: hvd-bench-steps [--network NAME]... [--precision bf16|tf32]... [--device NAME] [--seconds S] [--profile yes]
// With --profile nothing is measured: one step after the first ones, for a profiler that is told to wait for it (ncu --profile-from-start off).
#include <hvd/amp.hpp>
#include <hvd/device.hpp>
#include <hvd/hvd.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using hvd::Tensor;
using hvd::TensorOptions;
using Clock = std::chrono::steady_clock;
namespace nn = hvd::nn;

struct Task {
  std::string network;
  int64_t batch, tokens, classes;  // tokens of a piece; 0: images of 3 x 32 x 32
};

// The dropout of the Transformers is left out on both sides: it is drawn by different means.
const std::vector<Task> kTasks = {{"resnet18", 512, 0, 10}, {"vgg16", 256, 0, 10}, {"transformer_medium", 64, 128, 8192}, {"gpt2", 16, 1024, 50304}};

/// GPT-2 of 124 million parameters and a head of its own, its vocabulary a multiple of 64.
std::string gpt2_text() {
  std::string text = "input input shape=1024\ntokens embedding rows=50304 dim=768\nplaces learned_positions\n";
  for (int i = 0; i < 12; ++i)
    text += "layer" + std::to_string(i) + " transformer_encoder heads=12 hidden=3072 activation=gelu norm_first=yes causal=yes dropout=0\n";
  return text + "norm layer_norm\nhead linear out=50304 bias=no\n";
}

std::string without_dropout(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"p=0.1", "p=0"}, {"causal=yes\n", "causal=yes dropout=0\n"}})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

nn::Network network_of(const Task& task) {
  if (task.tokens == 0) return nn::networks::open(task.network, nn::NetworkOptions().input({3, 32, 32}).set("classes", task.classes));
  const std::string text = task.network == "gpt2" ? gpt2_text() : without_dropout(nn::networks::text(task.network));
  return nn::Network(nn::parse_network(text, task.network));
}

std::unique_ptr<hvd::optim::Optimizer> optimizer_of(const Task& task, const nn::Network& model) {
  if (task.tokens > 0) return std::make_unique<hvd::optim::AdamW>(model->parameters(), hvd::optim::AdamWOptions(1e-4));
  return std::make_unique<hvd::optim::SGD>(model->parameters(), hvd::optim::SGDOptions(0.01).momentum(0.9).weight_decay(5e-4));
}

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Measured {
  double seconds, host_seconds, loss;
};

/// Rounds of several steps, so that the wait at the end of a round counts for little.
Measured measure(const hvd::StepGraph::Step& step, const std::vector<Tensor>& inputs, double seconds) {
  Tensor loss;
  for (int i = 0; i < 6; ++i) loss = step(inputs)[0];
  hvd::synchronize();
  std::vector<double> whole, host;
  const Clock::time_point start = Clock::now();
  constexpr int kSteps = 8;
  do {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kSteps; ++i) loss = step(inputs)[0];
    host.push_back(since(begin) / kSteps);
    hvd::synchronize();
    whole.push_back(since(begin) / kSteps);
  } while (since(start) < seconds || whole.size() < 3);
  return {median(whole), median(host), loss.item<double>()};
}

/// cuProfilerStart or cuProfilerStop of the driver.
void tell_profiler(const char* function) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto call = reinterpret_cast<int (*)()>(driver ? dlsym(driver, function) : nullptr);
  if (!call || call() != 0) throw hvd::Error(std::string(function) + " failed");
}

void profile(const hvd::StepGraph::Step& step, const std::vector<Tensor>& inputs) {
  for (int i = 0; i < 3; ++i) step(inputs);
  hvd::synchronize();
  tell_profiler("cuProfilerStart");
  step(inputs);
  hvd::synchronize();
  tell_profiler("cuProfilerStop");
}

void run(const Task& task, const std::string& precision, hvd::Device device, double seconds, bool profiled) {
  hvd::manual_seed(1);
  const bool bf16 = precision == "bf16";
  hvd::set_tf32(!bf16);
  nn::Network model = network_of(task);
  model->to(device);
  const std::unique_ptr<hvd::optim::Optimizer> optimizer = optimizer_of(task, model);
  const TensorOptions numbers = TensorOptions(hvd::kFloat32).device(device), counts = TensorOptions(hvd::kInt64).device(device);
  const bool images = task.tokens == 0;
  const std::vector<int64_t> tokens = {task.batch, task.tokens};
  const Tensor x = images ? hvd::empty({task.batch, 3, 32, 32}, numbers).normal_() : hvd::randint(0, task.classes, tokens, counts);
  const Tensor y = hvd::randint(0, task.classes, images ? std::vector<int64_t>{task.batch} : tokens, counts);
  const hvd::StepGraph::Step step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    optimizer->zero_grad();
    Tensor loss;
    {
      const hvd::amp::AutocastGuard autocast(hvd::kBFloat16, bf16);
      Tensor out = model(in[0]);
      if (!images) out = out.view({-1, task.classes});
      loss = nn::functional::cross_entropy(out, in[1].view({-1}));
    }
    loss.backward();
    optimizer->step();
    return {loss};
  };
  const auto report = [&](const char* form, const hvd::StepGraph::Step& chosen) {
    hvd::reset_peak_device_memory();
    try {
      const Measured m = measure(chosen, {x, y}, seconds);
      std::printf("{\"side\": \"hvdize\", \"network\": \"%s\", \"form\": \"%s\", \"precision\": \"%s\", \"batch\": %lld, \"units\": %lld, \"seconds\": %.5e, "
                  "\"host_seconds\": %.5e, \"bytes\": %lld, \"loss\": %.6f}\n",
                  task.network.c_str(), form, precision.c_str(), static_cast<long long>(task.batch),
                  static_cast<long long>(task.batch * std::max<int64_t>(task.tokens, 1)), m.seconds, m.host_seconds,
                  static_cast<long long>(hvd::device_memory_use().peak), m.loss);
    } catch (const hvd::Error& error) {
      std::fprintf(stderr, "%s, %s, %s: %s\n", task.network.c_str(), form, precision.c_str(), error.what());
    }
    std::fflush(stdout);
  };
  if (profiled) return profile(step, {x, y});
  report("steps", step);
  report("noted", hvd::StepGraph(step, 1));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> networks, precisions;
    std::string device = "cudnn";
    double seconds = 1;
    bool profiled = false;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string name = argv[i], value = argv[i + 1];
      if (name == "--network")
        networks.push_back(value);
      else if (name == "--precision" && (value == "bf16" || value == "tf32"))
        precisions.push_back(value);
      else if (name == "--device")
        device = value;
      else if (name == "--profile")
        profiled = value == "yes";
      else if (name == "--seconds")
        seconds = std::atof(value.c_str());
      else
        throw hvd::Error("usage: hvd-bench-steps [--network NAME]... [--precision bf16|tf32]... [--device NAME] [--seconds S] [--profile yes]");
    }
    if (precisions.empty()) precisions = {"bf16", "tf32"};
    for (const Task& task : kTasks)
      for (const std::string& precision : precisions)
        if (networks.empty() || std::find(networks.begin(), networks.end(), task.network) != networks.end()) run(task, precision, hvd::Device(device), seconds, profiled);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-bench-steps: %s\n", error.what());
    return 1;
  }
  return 0;
}
