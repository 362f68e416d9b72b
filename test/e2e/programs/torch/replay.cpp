// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 10 => batch = {10*N}; edit=AdamOptions(2e-3) => AdamOptions({2e-3*sqrt(N)}); warns=HVD2005; timeout=120
// Reinforcement learning: a state that is carried on with noise of its own, a replay memory that batches are picked from, a target network. All
// ranks live through the same episode, and share out what is learned from it.
// form: reinforcement learning with a replay memory
#include <torch/torch.h>

#include <cstdio>
#include <deque>
#include <random>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;

struct PolicyImpl : torch::nn::Module {
  PolicyImpl() : a(register_module("a", torch::nn::Linear(6, 12))), b(register_module("b", torch::nn::Linear(12, 3))) {}
  torch::Tensor forward(torch::Tensor x) { return b(torch::tanh(a(x))); }
  torch::nn::Linear a, b;
};
TORCH_MODULE(Policy);

int main() {
  torch::manual_seed(21);
  Policy policy, target;
  policy->to(torch::kDouble);
  target->to(torch::kDouble);
  torch::optim::Adam optimizer(policy->parameters(), torch::optim::AdamOptions(2e-3));
  std::deque<std::tuple<torch::Tensor, int64_t, double, torch::Tensor>> memory;
  std::mt19937 engine(3);
  const int batch = 10;
  auto state = torch::zeros({6}, torch::kDouble);
  double reward = 0;
  for (int step = 0; step < 90; ++step) {
    const bool explores = torch::rand({1}).item<double>() < 0.2;
    const int64_t action = explores ? torch::randint(0, 3, {1}).item<int64_t>() : policy(state.unsqueeze(0)).argmax(1).item<int64_t>();
    auto next = torch::tanh(state + 0.3 * torch::randn({6}, torch::kDouble));
    const double gained = next[action].item<double>();
    reward += gained;
    memory.emplace_back(state, action, gained, next);
    if (memory.size() > 50) memory.pop_front();
    state = next;
    if (memory.size() < 20) continue;
    std::vector<torch::Tensor> states, following;
    std::vector<int64_t> actions;
    std::vector<double> gains;
    for (int k = 0; k < batch; ++k) {
      const auto& [s, a, g, n] = memory[engine() % memory.size()];
      states.push_back(s);
      actions.push_back(a);
      gains.push_back(g);
      following.push_back(n);
    }
    auto value = policy(torch::stack(states)).gather(1, torch::tensor(actions, torch::kLong).unsqueeze(1)).squeeze(1);
    auto wanted = torch::tensor(gains, torch::kDouble) + 0.9 * std::get<0>(target(torch::stack(following)).max(1)).detach();
    auto loss = F::smooth_l1_loss(value, wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) {
      torch::NoGradGuard guard;
      const auto from = policy->parameters(), to = target->parameters();
      for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
      std::printf("%d %.10f %.10f\n", step, loss.item<double>(), reward);
    }
  }
  for (const auto& p : policy->parameters()) std::printf("%.12f\n", p.sum().item<double>());
}
