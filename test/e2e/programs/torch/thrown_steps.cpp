// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// form: a batch with too large a loss is left out by an exception between backward and step, which the caller catches and goes on
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>

double step(torch::nn::Linear& net, torch::optim::Optimizer& optimizer, const torch::Tensor& x, const torch::Tensor& y) {
  optimizer.zero_grad();
  auto loss = torch::mse_loss(net(x), y);
  loss.backward();
  const double value = loss.item<double>();
  if (!(value < 20.0)) throw std::runtime_error("too large");
  optimizer.step();
  return value;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]);
  torch::manual_seed(281);
  auto x = torch::randn({53, 3}, torch::kDouble);
  x.slice(0, 16, 24) *= 8;
  auto y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  int bad = 0;
  double sum = 0;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int64_t i = 0; i < 53; i += batch) {
      auto inputs = x.slice(0, i, std::min<int64_t>(i + batch, 53)), targets = y.slice(0, i, std::min<int64_t>(i + batch, 53));
      try {
        sum += step(net, optimizer, inputs, targets);
      } catch (const std::runtime_error&) {
        ++bad;
      }
    }
  std::cout << std::setprecision(9) << bad << " " << sum << " " << net->weight.sum().item<double>() << std::endl;
  torch::save(net, "net.pt");
}
