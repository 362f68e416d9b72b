// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: void finish(NormNet& model, bool training) {
// CHECK-NEXT: hvd::sync_buffers(model);
// CHECK-NEXT: model->train(training);
void finish(NormNet& model, bool training) {
  model->train(training);
}

// CHECK: void keep(std::shared_ptr<NormNetImpl> model) {
// CHECK-NEXT: hvd::sync_buffers(model);
// CHECK-NEXT: if (hvd::is_root()) hvd::save(model, "net.safetensors");
void keep(std::shared_ptr<NormNetImpl> model) {
  hvd::save(model, "net.safetensors");
}

int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  finish(net, false);
  keep(net.ptr());
}
