// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "norm.h"

struct TrainedNetImpl : hvd::nn::Module {
  TrainedNetImpl() : net(register_module("net", NormNet())) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return net(x); }
  // CHECK: hvd::sync_buffers(*this);
  // CHECK-NEXT: eval();
  hvd::Tensor classes(const hvd::Tensor& x) {
    eval();
    return forward(x).argmax(1);
  }
  NormNet net;
};
HVD_MODULE(TrainedNet);

// CHECK: hvd::sync_buffers(model);
// CHECK-NEXT: if (hvd::is_root()) hvd::save(model, "net.safetensors");
struct Trainer {
  Trainer() : opt(model->parameters(), hvd::optim::SGDOptions(0.1)) {}
  void step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(model(batch.data), batch.target).backward();
    opt.step();
  }
  void keep() {
    hvd::save(model, "net.safetensors");
  }
  TrainedNet model;
  hvd::optim::SGD opt;
};

int main() {
  Trainer trainer;
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) trainer.step(batch);
  trainer.keep();
  return trainer.model->classes(hvd::zeros({1, 1, 7, 7})).size(0) == 1 ? 0 : 1;
}
