// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=SGDOptions(0.1) => SGDOptions({0.1*N}); ranks=1,2,3; timeout=120; tolerance=0.05
// Autocast, switched on around the forward by calls and by a guard of the author's own: it is the same on all ranks. Products in bfloat16: numbers agree to
// its precision.
// form: autocast around the forward
#include <torch/torch.h>
#include <ATen/autocast_mode.h>

#include <iostream>
#include <stdexcept>

struct Autocast {
  explicit Autocast(bool on) : before(at::autocast::is_cpu_enabled()) {
    at::autocast::set_cpu_enabled(on);
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(before);
  }
  bool before;
};

int main() {
  const int64_t batch = 8;
  torch::manual_seed(1);
  auto inputs = torch::rand({50, 6});
  auto labels = (inputs.sum(1) > 3).to(torch::kLong);
  torch::nn::Sequential net(torch::nn::Linear(6, 16), torch::nn::ReLU(), torch::nn::Linear(16, 2));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto x = inputs.slice(0, i, std::min<int64_t>(i + batch, 50)), y = labels.slice(0, i, std::min<int64_t>(i + batch, 50));
      optimizer.zero_grad();
      torch::Tensor logits;
      if (epoch == 1) {
        at::autocast::set_cpu_enabled(true);
        logits = net->forward(x);
        at::autocast::clear_cache();
        at::autocast::set_cpu_enabled(false);
      } else {
        Autocast guard(epoch < 2 || x.sum().item<float>() > 22);  // what is decided from a batch is decided from the whole one
        logits = net->forward(x);
        if (at::autocast::is_cpu_enabled() && logits.scalar_type() != at::kBFloat16) throw std::logic_error("not cast");
      }
      auto loss = torch::nn::functional::cross_entropy(logits.to(torch::kFloat), y);
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * x.size(0);
    }
    std::cout << epoch << ": " << total / 50 << "\n";
  }
  torch::save(net, "net.pt");
}
