// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Learned weights of tasks, read one by one from outside of the module, and a warm-up over as many steps as a pass has.
// form: a warm-up whose steps are counted from the samples and the batch size
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

// form: learned weights of tasks, elements of a parameter that are read through a pointer to the module
struct Heads : torch::nn::Module {
  torch::nn::Linear trunk, classes, values;
  torch::Tensor log_variance;
  Heads() : trunk(5, 9), classes(9, 3), values(9, 2) {
    register_module("trunk", trunk);
    register_module("classes", classes);
    register_module("values", values);
    log_variance = register_parameter("log_variance", torch::zeros({2}));
  }
  std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    auto hidden = torch::relu(trunk(x));
    return {classes(hidden), values(hidden)};
  }
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t samples = 53, batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(17);
  std::cout << std::setprecision(9);
  auto x = torch::randn({samples, 5}, torch::kDouble), targets = torch::randn({samples, 2}, torch::kDouble);
  auto labels = torch::randint(0, 3, {samples}, torch::kLong);
  auto net = std::make_shared<Heads>();
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  const int64_t warm = samples / batch;
  int64_t step = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t i = 0; i < samples; i += batch) {
      const double now = step < warm ? rate * (step + 1) / warm : rate;
      for (auto& group : optimizer.param_groups()) group.options().set_lr(now);
      const auto end = std::min(i + batch, samples);
      auto [scores, guesses] = net->forward(x.slice(0, i, end));
      auto first = torch::nn::functional::cross_entropy(scores, labels.slice(0, i, end));
      auto second = torch::mse_loss(guesses, targets.slice(0, i, end));
      auto loss = torch::exp(-net->log_variance[0]) * first + torch::exp(-net->log_variance[1]) * second + net->log_variance.sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      ++step;
      std::cout << loss.item<double>() << " " << now << "\n";
    }
  torch::save(net, "net.pt");
}
