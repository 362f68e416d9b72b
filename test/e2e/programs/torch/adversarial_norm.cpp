// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Samples moved along their gradient, whose length is that of the whole batch's gradient.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  auto inputs = torch::rand({50, 3}, torch::kDouble);
  auto labels = (inputs.sum(1) > 1.5).to(torch::kLong);
  torch::nn::Linear net(3, 2);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double length = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto x = inputs.slice(0, i, std::min<int64_t>(i + batch, 50)), y = labels.slice(0, i, std::min<int64_t>(i + batch, 50));
      auto probe = x.detach().clone().requires_grad_(true);
      torch::nll_loss(torch::log_softmax(net->forward(probe), 1), y).backward();
      auto g = probe.grad();
      length += g.norm().item<double>();
      auto other = x + g / (g.norm() + 1e-12) * 0.05;
      optimizer.zero_grad();
      torch::nll_loss(torch::log_softmax(net->forward(other), 1), y).backward();
      optimizer.step();
    }
    std::cout << std::setprecision(12) << epoch << ": " << length << "\n";
  }
  torch::save(net, "net.pt");
}
