// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.01*N**0.5}; ranks=1,2,3; timeout=90
// form: a network whose class makes its optimizer, beside a second object of the class that is only looked at and collects gradients all the same
#include <torch/torch.h>

#include <iostream>
#include <memory>

using torch::Tensor;

struct Values : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  std::shared_ptr<torch::optim::Adam> optimizer;
  std::shared_ptr<Values> behind;

  explicit Values(double rate) {
    layer = register_module("layer", torch::nn::Linear(4, 3));
    to(torch::kDouble);
    optimizer = std::make_shared<torch::optim::Adam>(parameters(), rate);
  }

  void learn(Tensor x, Tensor next, Tensor actions) {
    const Tensor now = layer(x).gather(1, actions).squeeze(1);
    const Tensor later = std::get<0>(behind->layer(next).max(1)) * 0.9;  // no detach(): the other one's gradients pile up
    const Tensor loss = torch::smooth_l1_loss(now, later);
    optimizer->zero_grad();
    loss.backward();
    optimizer->step();
    std::cout << loss.item<double>() << "\n";
  }
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(8);
  const int batch = std::stoi(argv[1]);
  Values net(std::stod(argv[2]));
  net.behind = std::make_shared<Values>(std::stod(argv[2]));
  const Tensor x = torch::rand({40, 4}, torch::kDouble), y = torch::rand({40, 4}, torch::kDouble);
  const Tensor actions = torch::randint(0, 3, {40, 1}, torch::kLong);
  for (int i = 0; i + batch <= 40; i += batch) net.learn(x.slice(0, i, i + batch), y.slice(0, i, i + batch), actions.slice(0, i, i + batch));
  return 0;
}
