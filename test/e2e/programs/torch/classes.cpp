// e2e: args=; scaled={6*N} {0.1*N}; ranks=1,3; timeout=90
// A program with helpers that it does not call, one of which changes gradients by hand; a table of numbers for each class, and means of classes.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

void clip_by_hand(std::vector<torch::Tensor> parameters, double limit) {
  double norm = 0;
  for (auto& p : parameters) norm += p.grad().pow(2).sum().item<double>();
  norm = std::sqrt(norm);
  if (norm > limit)
    for (auto& p : parameters) p.mutable_grad().mul_(limit / norm);
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(5);
  torch::nn::Linear net(4, 3);
  net->to(torch::kFloat64);
  auto x = torch::rand({26, 4}, torch::kFloat64), scale = torch::linspace(0.5, 1.5, 3, torch::kFloat64);
  auto y = torch::arange(26).remainder(3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int64_t i = 0; i < 26; i += batch) {
    auto target = y.slice(0, i, i + batch);
    auto each = torch::nn::functional::cross_entropy(net(x.slice(0, i, i + batch)), target, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto factors = scale.take(target);
    auto loss = (each * factors).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("loss %.9f factors %.9f\n", loss.item<double>(), factors.mean().item<double>());

    // The mean of each class, and the mean over the classes.
    auto hot = torch::one_hot(target, 3);
    auto surprise = -(net(x.slice(0, i, i + batch)).log_softmax(1) * hot);
    auto balanced = (surprise.sum(0) / (hot.sum(0) + 1)).mean();
    optimizer.zero_grad();
    balanced.backward();
    optimizer.step();
    std::printf("balanced %.9f\n", balanced.item<double>());
  }
  torch::save(net, "trained.pt");
}
