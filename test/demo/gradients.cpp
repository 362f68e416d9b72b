// SPDX-License-Identifier: Apache-2.0
//
// The gradients of one step in float32 against those in float64, for networks like those of the examples (dropout; convolutions and
// synchronised batch norm), on every device and for every size of slice: a batch of 4 samples on 1 to 4 ranks, which are threads here.
//
//   gradients ROWS        appends one row for each comparison to the file ROWS, as hvd-verify --rows does
//
// Measure: per parameter the largest difference relative to the largest gradient. Exit status 1 when one exceeds the limit.
#include <hvd/distributed.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/hvd.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace nn = hvd::nn;
using hvd::Tensor;

static constexpr int64_t kBatch = 4;
static constexpr double kLimit = 1e-5;

static nn::Sequential perceptron() {
  return nn::Sequential(nn::Flatten(), nn::Linear(784, 512), nn::ReLU(), nn::Dropout(0.2), nn::Linear(512, 256), nn::ReLU(), nn::Dropout(0.2),
                        nn::Linear(256, 10));
}

static nn::Sequential convolutional() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1).bias(false)), nn::BatchNorm2d(16), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1).bias(false)), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Dropout(0.2), nn::Linear(32 * 7 * 7, 10));
}

struct Gradients {
  std::vector<std::string> names;
  std::vector<Tensor> values;  // float64, on the reference device
};

// One step's gradients of the whole batch, from `ranks` slices.
static Gradients gradients(nn::Sequential (*make)(), hvd::Dtype dtype, hvd::Device device, int ranks) {
  Gradients out;
  hvd::testing::spawn(ranks, [&] {
    hvd::set_default_device(device);
    hvd::set_default_dtype(dtype);
    hvd::manual_seed(3);
    nn::Sequential net = make();
    hvd::sync_batchnorm(net);
    hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
    const Tensor x = hvd::rand({kBatch, 1, 28, 28}, hvd::TensorOptions(hvd::kFloat32).device(device)).to(dtype);
    const Tensor y = hvd::randint(0, 10, {kBatch});
    hvd::StepScope step;
    const Tensor loss = nn::functional::cross_entropy(net->forward(hvd::shard(x)), hvd::shard(y));
    hvd::weighted(loss, hvd::LossKind::mean).backward();
    hvd::reduce_gradients(optimizer);
    if (!hvd::is_root()) return;
    for (const auto& p : net->named_parameters()) {
      out.names.push_back(p.key());
      out.values.push_back(p.value().grad().to(hvd::kCPU).to(hvd::kFloat64).clone());
    }
  });
  return out;
}

static bool compare(std::ofstream& rows, const std::string& net, nn::Sequential (*make)()) {
  const Gradients reference = gradients(make, hvd::kFloat64, hvd::kCPU, 1);
  bool good = true;
  for (const hvd::Device device : hvd::available_devices())
    for (int ranks = 1; ranks <= kBatch; ++ranks) {
      const Gradients single = gradients(make, hvd::kFloat32, device, ranks);
      double worst = 0;
      std::string where = "-";
      for (size_t i = 0; i < reference.values.size(); ++i) {
        const double gap = (single.values[i] - reference.values[i]).abs().max().item<double>() / reference.values[i].abs().max().item<double>();
        if (!(gap <= worst)) worst = gap, where = reference.names[i];
      }
      const bool within = worst <= kLimit;
      good = good && within;
      char text[32];
      std::snprintf(text, sizeof text, "%.2g", worst);
      rows << net << "|float32 gradients, " << device.name() << "|slices of "
           << (kBatch % ranks ? std::to_string(kBatch / ranks) + " and " + std::to_string(kBatch / ranks + 1) : std::to_string(kBatch / ranks)) << '\t' << ranks
           << "\t-\t-\t" << text << '\t' << where << '\t' << (within ? "equal" : "DIFFERENT") << '\n';
    }
  return good;
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: gradients ROWS\n", stderr), 2;
  std::ofstream rows(argv[1], std::ios::app);
  if (!rows) return std::fprintf(stderr, "gradients: cannot write '%s'\n", argv[1]), 2;
  const bool first = compare(rows, "perceptron", perceptron), second = compare(rows, "convolutional", convolutional);
  return first && second ? 0 : 1;
}
