// SPDX-License-Identifier: Apache-2.0
// Layers and functions that couple the samples of a batch, and their like that do not.
// RUN: %golden
//--- layer_along_rows.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  hvd::nn::Sequential net(hvd::nn::Linear(8, 3), hvd::nn::LogSoftmax(0));
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::nll_loss(net(batch.data), batch.target).backward();  // refused: HVD3010
    opt.step();
  }
}
//--- layer_along_classes.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::optim::RMSpropOptions(hvd::scaled_lr(0.1, hvd::LrRule::sqrt))
// CHECK: hvd::LossKind::mean).backward();
int main() {
  hvd::nn::Sequential net(hvd::nn::Linear(8, 3), hvd::nn::LogSoftmax(-1));
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::nll_loss(net(batch.data), batch.target).backward();
    opt.step();
  }
}
//--- pushed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  hvd::nn::Sequential net(hvd::nn::Linear(8, 3));
  net->push_back(hvd::nn::Softmax(0));
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- chosen.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  int dims[] = {0, 1};
  hvd::nn::Softmax over(dims[1]);
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    over(net(batch.data)).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- function_along_rows.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).softmax(0).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- norm_of_all.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    const auto y = net(batch.data);
    hvd::nn::functional::layer_norm(y, y.sizes()).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- norm_of_rows.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    const auto y = net(batch.data);
    hvd::nn::functional::layer_norm(y, {y.size(0), 3}).square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- norm_of_features.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: layer_norm(y, {y.size(1)})
// CHECK: hvd::LossKind::mean).backward();
int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    const auto y = net(batch.data);
    hvd::nn::functional::layer_norm(y, {y.size(1)}).square().mean().backward();
    opt.step();
  }
}
//--- products_of_samples.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::LossKind::mean).backward();
int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    const auto y = net(batch.data).unsqueeze(2);
    y.bmm(y.transpose(1, 2)).square().mean().backward();
    opt.step();
  }
}
//--- split_rows.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).split(2)[0].square().mean().backward();  // refused: HVD3010
    opt.step();
  }
}
//--- split_features.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::LossKind::mean).backward();
int main() {
  Net net;
  hvd::optim::RMSprop opt(net->parameters(), hvd::optim::RMSpropOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    net(batch.data).split(2, 1)[0].square().mean().backward();
    opt.step();
  }
}
