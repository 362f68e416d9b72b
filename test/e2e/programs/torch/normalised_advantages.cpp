// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Mini-batches of a policy's advantages, brought to mean 0 and deviation 1: of all samples of the batch, not of those of one rank. And reductions whose first argument is
// a type or a flag, not a dimension.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  auto states = torch::rand({50, 3}, torch::kDouble);
  auto advantages = states.sum(1) + torch::rand({50}, torch::kDouble);
  auto actions = torch::randint(0, 2, {50});
  torch::nn::Linear policy(3, 2);
  policy->to(torch::kDouble);
  torch::optim::SGD optimizer(policy->parameters(), rate);
  std::cout << std::setprecision(12);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto order = torch::randperm(50);
    int64_t greedy = 0;
    double spread = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto rows = order.slice(0, i, std::min<int64_t>(i + batch, 50));
      auto state = states.index_select(0, rows);
      state = (state - state.mean(0)) / (torch::std(state, 0) + 1e-8);
      auto advantage = advantages.index_select(0, rows);
      advantage = (advantage - advantage.mean()) / (advantage.std(/*unbiased=*/true) + 1e-8);
      auto logits = torch::log_softmax(policy->forward(state), 1);
      auto chosen = logits.gather(1, actions.index_select(0, rows).unsqueeze(1)).squeeze(1);
      auto loss = -(chosen * advantage).mean(torch::kDouble);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      greedy += (logits.argmax(1) == actions.index_select(0, rows)).sum(torch::kLong).item<int64_t>();
      spread += chosen.detach().var(false).item<double>();
    }
    std::cout << epoch << ": " << greedy << " " << spread << "\n";
  }
  torch::save(policy, "policy.pt");
}
