// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=SGDOptions(0.1) => SGDOptions({0.1*N}); ranks=1,2,3; timeout=120
// A scaler of the loss of the author's own: what it finds in the gradients, and so the step that is left out and the next scale, follows the reduced ones.
// form: scaler of the loss of one's own
#include <torch/torch.h>

#include <iostream>

struct Scaler {
  double scale = 1 << 23;
  int good = 0;
  torch::Tensor scaled(const torch::Tensor& loss) const { return loss * scale; }
  bool step(torch::optim::Optimizer& optimizer) {
    bool found_inf = false;
    for (auto& group : optimizer.param_groups())
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        // What half precision could not hold.
        if (!torch::isfinite(p.grad()).all().item<bool>() || p.grad().abs().max().item<double>() > 65504) found_inf = true;
        p.mutable_grad().mul_(1.0 / scale);
      }
    if (!found_inf) optimizer.step();
    if (found_inf) {
      scale /= 2;
      good = 0;
    } else if (++good == 4) {
      scale *= 2;
      good = 0;
    }
    return !found_inf;
  }
};

int main() {
  const int64_t batch = 8;
  torch::manual_seed(1);
  auto inputs = torch::rand({50, 6}, torch::kDouble);
  auto labels = (inputs.sum(1) > 3).to(torch::kLong);
  torch::nn::Sequential net(torch::nn::Linear(6, 16), torch::nn::ReLU(), torch::nn::Linear(16, 2));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  Scaler scaler;
  int64_t taken = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto x = inputs.slice(0, i, std::min<int64_t>(i + batch, 50)), y = labels.slice(0, i, std::min<int64_t>(i + batch, 50));
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(x), y);
      scaler.scaled(loss).backward();
      taken += scaler.step(optimizer);
      total += loss.item<double>() * x.size(0);
    }
    std::cout << epoch << ": " << total / 50 << " scale " << scaler.scale << " steps " << taken << "\n";
  }
  torch::save(net, "net.pt");
}
