// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/hvd.hpp>

struct ClassifierImpl : hvd::nn::Module {
  ClassifierImpl() { register_module("out", out); }
  hvd::Tensor forward(const hvd::Tensor& x) { return out->forward(x.flatten(1)); }
  hvd::nn::Linear out{784, 10};
};
HVD_MODULE(Classifier);
