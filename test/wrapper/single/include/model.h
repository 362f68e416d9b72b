// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/hvd.hpp>

struct ModelImpl : hvd::nn::Module {
  ModelImpl() {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  hvd::Tensor forward(const hvd::Tensor& x) { return out->forward(hidden->forward(x.flatten(1)).relu()); }

  hvd::nn::Linear hidden{784, HIDDEN}, out{HIDDEN, 10};
};
HVD_MODULE(Model);
