// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net.h"

struct Settings {
  std::size_t batch = 12;
  double rate = 0.05;
};

/// One pass over the data; the mean loss of its samples.
double train_epoch(Net& net, hvd::optim::Optimizer& optimizer, const hvd::data::datasets::TensorDataset& data, const Settings& settings);
