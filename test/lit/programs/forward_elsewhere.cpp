// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A network whose forward is only declared here, and returns a struct: what it gets is a batch like any other.

//--- forward_elsewhere.cpp
#include <vector>

#include <hvd/hvd.hpp>

struct Outputs {
  hvd::Tensor policy, value;
};

struct Net : hvd::nn::Module {
  Net();
  Outputs forward(hvd::Tensor x);
};

int main() {
  Net net;
  hvd::optim::SGD opt(net.parameters(), hvd::optim::SGDOptions(0.1));
  auto x = hvd::randn({40, 5}), y = hvd::randn({40, 1});
  const int64_t batch = 8;
  for (int64_t i = 0; i < 40; i += batch) {
    std::vector<hvd::Tensor> rows;
    for (int64_t k = i; k < i + batch; ++k) rows.push_back(x[k]);
    // CHECK: auto states = hvd::shard(hvd::stack(rows));
    auto states = hvd::stack(rows);
    Outputs outputs = net.forward(states);
    // CHECK: hvd::shard(y.slice(0, i, i + batch))
    auto loss = hvd::nn::functional::mse_loss(outputs.value, y.slice(0, i, i + batch));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
