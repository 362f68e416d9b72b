// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Products in which samples meet, and indices that do not number this rank's rows.

//--- program.h
#pragma once
#include <torch/torch.h>

// A training loop with a loss of the program's own, made from the network's output, the samples and their classes.
#define TRAIN(LOSS)                                                                                    \
  torch::nn::Linear net(5, 3);                                                                         \
  torch::optim::SGD optimizer(net->parameters(), 0.1);                                                 \
  auto samples = torch::rand({40, 5}), classes = torch::randint(0, 3, {40});                           \
  for (int64_t i = 0; i < 40; i += 8) {                                                                \
    auto x = samples.slice(0, i, i + 8), a = classes.slice(0, i, i + 8);                               \
    auto out = net->forward(x);                                                                        \
    auto loss = LOSS;                                                                                  \
    optimizer.zero_grad();                                                                             \
    loss.backward();                                                                                   \
    optimizer.step();                                                                                  \
  }

//--- products_of_samples.cpp
// form: einsum over pairs of samples
#include "program.h"

int main() {
  TRAIN(torch::einsum("bi,ci->bc", {out, out}).pow(2).mean())  // refused: HVD3010
}

//--- square_of_sum.cpp
// form: einsum that sums over the samples, squared
#include "program.h"

int main() {
  TRAIN(torch::einsum("bi,bj->ij", {out, out}).pow(2).mean())  // refused: HVD3010
}

//--- moved_samples.cpp
// form: einsum that moves the samples behind
#include "program.h"

int main() {
  TRAIN(torch::einsum("bi->ib", {out}).softmax(1).pow(2).mean())  // refused: HVD3010
}

//--- any_dimensions.cpp
// form: einsum with an ellipsis
#include "program.h"

int main() {
  TRAIN(torch::einsum("...i,...i->...", {out, out}).pow(2).mean())  // refused: HVD3010
}

//--- rows_in_another_order.cpp
// form: rows of samples in another order
#include "program.h"

int main() {
  TRAIN(out.index({torch::arange(out.size(0)).flip(0), a}).pow(2).mean())  // refused: HVD3010
}

//--- differences_of_samples.cpp
// form: differences of neighbouring samples
#include "program.h"

int main() {
  TRAIN(out.select(1, 0).diff().pow(2).mean())  // refused: HVD3010
}
