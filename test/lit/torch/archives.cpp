// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// What a module writes into an archive are its running statistics as well: they are brought together first, as before torch::save.

//--- archives.cpp
#include <torch/torch.h>

#include <memory>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(4, 6)), last = register_module("last", torch::nn::Linear(6, 1));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(6));
  torch::Tensor forward(const torch::Tensor& x) { return last(torch::relu(norm(first(x)))); }
  // CHECK-LABEL: void keep
  // CHECK: hvd::sync_buffers(*this);
  // CHECK-NEXT: save(archive);
  // CHECK-NEXT: if (hvd::is_root()) archive.save_to(path);
  void keep(const std::string& path) const {
    torch::serialize::OutputArchive archive;
    save(archive);
    archive.save_to(path);
  }
};
TORCH_MODULE(Net);

struct Trainer {
  Net net;
  torch::optim::SGD optimizer{net->parameters(), 0.1};
  // CHECK-LABEL: void note
  // CHECK: hvd::sync_buffers(net);
  // CHECK-NEXT: net->save(archive);
  void note(int epoch) const {
    torch::serialize::OutputArchive archive;
    net->save(archive);
    archive.save_to("net" + std::to_string(epoch) + ".pt");
  }
};

int main() {
  Trainer trainer;
  auto x = torch::randn({48, 4}), y = torch::randn({48, 1});
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t at = 0; at < 48; at += 8) {
      auto loss = torch::mse_loss(trainer.net(x.slice(0, at, at + 8)), y.slice(0, at, at + 8));
      trainer.optimizer.zero_grad();
      loss.backward();
      trainer.optimizer.step();
    }
    trainer.note(epoch);
  }
  trainer.net->keep("last.pt");
}
