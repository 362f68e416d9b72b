// SPDX-License-Identifier: Apache-2.0
// What docs/transformations.md shows pieces of, before and after.
#include <hvd/hvd.hpp>

#include <chrono>
#include <iostream>
#include <string>

#include "classifier.h"

namespace nn = hvd::nn;
namespace data = hvd::data;

int main(int argc, char** argv) {
  hvd::manual_seed(3);
  hvd::Device device("onednn");
  auto digits = data::open_digits_or("", data::datasets::kTrain, 600);
  auto loader = data::make_data_loader<data::RandomSampler>(digits, data::DataLoaderOptions().batch_size(64));
  Classifier net;
  net->to(device);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.01));
  if (argc > 1) {
    hvd::load_checkpoint(argv[1], net, optimizer);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    int64_t correct = 0;
    for (auto& batch : *loader) {
      auto x = batch.data.to(device), y = batch.target.to(device);
      optimizer.zero_grad();
      auto logits = net->forward(x);
      auto loss = nn::functional::cross_entropy(logits, y);
      loss.backward();
      nn::utils::clip_grad_norm_(net->parameters(), 5.0);
      optimizer.step();
      total += loss.item<double>() * x.size(0);
      correct += logits.argmax(1).eq(y).sum().item<int64_t>();
      if (std::chrono::steady_clock::now() > deadline) break;
    }
    std::cout << "epoch " << epoch << ": loss " << total / 600 << ", " << correct << " right" << std::endl;
  }
  hvd::save(net, "net.safetensors");
}
