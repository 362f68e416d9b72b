// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <hvd/dist/testing.hpp>
#include <hvd/nn.hpp>

namespace hvd::test {

/// Two layers from 6 to 3 columns, and one that no forward pass uses.
struct NetImpl : nn::Module {
  NetImpl() {
    a = register_module("a", nn::Linear(6, 5));
    b = register_module("b", nn::Linear(5, 3));
    unused = register_module("unused", nn::Linear(2, 2));
  }
  Tensor forward(const Tensor& x) { return b->forward(a->forward(x).tanh()); }
  std::shared_ptr<nn::LinearImpl> a, b, unused;
};

/// What the ranks end with: the message of the exception, or "no exception".
inline std::string failure(int ranks, const std::function<void()>& body) {
  try {
    hvd::testing::spawn(ranks, body);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no exception";
}

}  // namespace hvd::test
