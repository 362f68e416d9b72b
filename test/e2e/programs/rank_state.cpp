// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={12*N} {0.05*N}; hvdize=--assume=local-batch-norm
// What would differ between ranks if nothing were done: weights that depend on the environment, a checkpoint that is read again, a log
// that is appended to, files named after the environment, statistics that a layer collects over this rank's rows.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace F = hvd::nn::functional;

struct NetImpl : hvd::nn::Module {
  NetImpl() {
    statistics = register_module("statistics", hvd::nn::BatchNorm2d(hvd::nn::BatchNorm2dOptions(2).momentum(0.3)));
    first = register_module("first", hvd::nn::Linear(8, 6));
    second = register_module("second", hvd::nn::Linear(6, 1));
  }
  hvd::Tensor forward(const hvd::Tensor& x) {
    // The layer only watches its input: its running mean is shown, its output is not used.
    if (is_training()) statistics->forward(x.detach());
    return second->forward(first->forward(x.flatten(1)).tanh());
  }
  hvd::nn::BatchNorm2d statistics{nullptr};
  hvd::nn::Linear first{nullptr}, second{nullptr};
};
HVD_MODULE(Net);

static double mean_of_statistics(Net& net) {
  for (const auto& buffer : net->named_buffers())
    if (buffer.key() == "statistics.running_mean") return buffer.value()[1].item<double>();
  return -1;
}

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 12;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const char* job = std::getenv("OMPI_COMM_WORLD_RANK");  // unset in a run without a launcher
  const std::string place = job ? job : "0";
  hvd::set_default_dtype(hvd::kFloat64);

  hvd::manual_seed(40);
  const int64_t n = 60;  // any number of ranks up to 4 shares the batches evenly: only then are running means exact
  const hvd::Tensor x = hvd::randn({n, 2, 2, 2}), y = x.flatten(1).sum(1, true).tanh();
  hvd::manual_seed(70 + std::stoi(place));
  Net net;
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9));
  hvd::manual_seed(90);

  double best = 1e30;
  for (int epoch = 0; epoch < 5; ++epoch) {
    net->train();
    const hvd::Tensor order = hvd::randperm(n);
    double largest = 0, smallest = 1e30;
    for (int64_t i = 0; i < n; i += batch_size) {
      const hvd::Tensor index = order.slice(0, i, std::min(i + batch_size, n));
      const hvd::Tensor xb = x.index_select(0, index), yb = y.index_select(0, index);
      const hvd::Tensor error = (net->forward(xb) - yb).abs();
      optimizer.zero_grad();
      hvd::Tensor loss = (error * error).mean();
      loss.backward();
      hvd::nn::utils::clip_grad_norm_(net->parameters(), 0.4);
      optimizer.step();
      largest = std::max(largest, error.max().item<double>());
      smallest = std::min(smallest, error.min().item<double>());
    }
    net->eval();
    double total = 0;
    {
      hvd::NoGradGuard no_grad;
      total = F::mse_loss(net->forward(x), y).item<double>();
    }
    std::printf("epoch %d: error %.9f, %.9f to %.9f, mean of the input %.9f\n", epoch, total, smallest, largest, mean_of_statistics(net));
    std::ofstream("history." + place + ".txt", std::ios::app) << epoch << ' ' << total << '\n';
    if (total < best && epoch < 3) {
      best = total;
      hvd::save(net->second, "best." + place + ".safetensors");
    }
    if (epoch == 3) {
      hvd::load(net->second, "best." + place + ".safetensors");  // go on from the best head so far
      optimizer.set_lr(rate / 4);
    }
  }
  hvd::save(net->first, "first.new");
  std::filesystem::rename("first.new", "first.safetensors");
}
