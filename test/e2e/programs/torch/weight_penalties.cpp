// e2e: scaled={7*N} {0.05*N}; ranks=1,2,3; timeout=60
// Penalties on the weights that stand in loops over the parameters, in a program that cuts its batches by hand: parameters are no rows of a
// batch, even where a layer has as many rows as that.
// form: a penalty on weights in a loop over the parameters of a program that cuts its batches by hand
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

// form: a penalty on weights in a loop over the parameters, in a function
torch::Tensor lengths(torch::nn::Sequential& net) {
  auto sum = torch::zeros({}, torch::kDouble);
  for (const auto& p : net->parameters()) sum = sum + p.abs().sum();
  return sum;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]);
  torch::manual_seed(1);
  std::cout << std::setprecision(9);
  torch::nn::Sequential net(torch::nn::Linear(5, 7), torch::nn::Tanh(), torch::nn::Linear(7, 1));
  net->to(torch::kDouble);
  auto scale = torch::ones({7, 1}, torch::dtype(torch::kDouble).requires_grad(true)), shift = torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true));
  std::vector<torch::Tensor> own = {scale, shift};
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2])), second(own, torch::optim::SGDOptions(std::stod(argv[2])));
  auto x = torch::randn({50, 5}, torch::kDouble), y = torch::randn({50, 1}, torch::kDouble);
  for (int step = 0; step < 6; ++step) {
    auto drawn = torch::randint(0, 50, {batch}, torch::kLong);
    auto inputs = x.index_select(0, drawn), targets = y.index_select(0, drawn);
    auto penalty = torch::zeros({}, torch::kDouble);
    for (auto& p : net->parameters()) penalty += torch::norm(p, 2);
    const auto parameters = net->parameters();
    for (const auto& p : parameters) penalty += p.pow(2).sum();
    for (const auto& p : own) penalty += p.pow(2).sum();
    auto loss = torch::mse_loss(net->forward(inputs) * scale.mean() + shift, targets) + 1e-2 * penalty + 1e-3 * lengths(net);
    optimizer.zero_grad();
    second.zero_grad();
    loss.backward();
    optimizer.step();
    second.step();
    std::cout << step << " " << loss.item<double>() << " " << penalty.item<double>() << "\n";
  }
  torch::save(net, "net.pt");
}
