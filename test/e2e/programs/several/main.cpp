// SPDX-License-Identifier: Apache-2.0
// e2e: name=several; also=train/loop.cpp data/blobs.cpp; scaled=--batch {12*N} --rate {0.05*N}
// Model, data, training loop and main in files of their own: the optimizer crosses files by reference, the loop returns a number, a header
// holds the evaluation as a template, another one, which nobody edits, is included by it.
#include <cstdlib>
#include <hvd/hvd.hpp>
#include <iomanip>
#include <iostream>
#include <string>

#include "data/blobs.h"
#include "train/evaluate.h"
#include "train/loop.h"

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--batch") settings.batch = std::stoul(argv[i + 1]);
    if (std::string(argv[i]) == "--rate") settings.rate = std::atof(argv[i + 1]);
  }
  hvd::manual_seed(3);
  Net net(4, 3);
  net->to(hvd::kFloat64);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(settings.rate).momentum(0.9));
  const auto data = blobs(90);
  std::cout << std::setprecision(10);
  double best = 1e9;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    const double loss = train_epoch(net, optimizer, data, settings);
    std::cout << "epoch " << epoch << ": loss " << loss << std::endl;
    if (loss < best) best = loss;
  }
  auto test = hvd::data::make_data_loader<hvd::data::samplers::SequentialSampler>(blobs(40), hvd::data::DataLoaderOptions(16));
  std::cout << "best " << best << ", right " << count_right(net, *test) << " of 40" << std::endl;
  hvd::save(net, "several.safetensors");
}
