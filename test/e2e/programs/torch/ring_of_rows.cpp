// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.02*N}; ranks=1,2,3; timeout=90
// form: a ring of rows that steps write one by one, and batches drawn from it
// An agent moves, what it saw goes into tables by index, and two networks learn from rows drawn from these. What it sees at first is drawn in
// the loop of the steps, and it is no batch.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

struct WorthImpl : torch::nn::Module {
  WorthImpl() {
    first = register_module("first", torch::nn::Linear(5, 8));
    last = register_module("last", torch::nn::Linear(8, 1));
    to(torch::kFloat64);
  }
  // Of the last dimension: the rows of both stay rows.
  torch::Tensor forward(const torch::Tensor& state, const torch::Tensor& move) { return last(torch::relu(first(torch::cat({state, move}, -1)))).squeeze(-1); }
  torch::nn::Linear first{nullptr}, last{nullptr};
};
TORCH_MODULE(Worth);

class Memory {
 public:
  explicit Memory(int64_t room) : room_(room) {
    const auto wide = torch::TensorOptions().dtype(torch::kFloat64);
    states_ = torch::zeros({room, 3}, wide);
    moves_ = torch::zeros({room, 2}, wide);
    next_ = torch::zeros({room, 3}, wide);
    gains_ = torch::zeros({room}, wide);
  }
  void put(const torch::Tensor& state, const torch::Tensor& move, const torch::Tensor& next, const torch::Tensor& gain) {
    states_[at_] = state;
    moves_[at_] = move;
    next_[at_] = next;
    gains_[at_] = gain;
    at_ = (at_ + 1) % room_;
    filled_ = std::min(filled_ + 1, room_);
  }
  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor> draw(int64_t n) {
    const auto chosen = torch::randint(0, filled_, {n}, torch::kInt64);
    return {states_.index({chosen}), moves_.index_select(0, chosen), next_.index({chosen}), gains_.index({chosen})};
  }

 private:
  int64_t room_, at_ = 0, filled_ = 0;
  torch::Tensor states_, moves_, next_, gains_;
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.02;
  torch::manual_seed(3);
  Worth worth;
  torch::nn::Sequential mover(torch::nn::Linear(3, 6), torch::nn::Tanh(), torch::nn::Linear(6, 2), torch::nn::Tanh());
  mover->to(torch::kFloat64);
  torch::optim::SGD worthSteps(worth->parameters(), rate), moverSteps(mover->parameters(), rate);
  Memory memory(25);
  auto state = torch::zeros({3}, torch::kFloat64);
  for (int t = 0; t < 70; ++t) {
    if (t % 9 == 0) state = torch::rand({3}, torch::kFloat64);
    torch::Tensor move;
    {
      torch::NoGradGuard none;
      move = mover->forward(state) + 0.1 * torch::randn({2}, torch::kFloat64);
    }
    const auto next = 0.8 * state + 0.2 * torch::cat({move, move.sum().view({1})});
    memory.put(state, move, next, next.sum() - move.pow(2).sum());
    state = next;
    if (t < 12) continue;
    auto [states, moves, nexts, gains] = memory.draw(batch);
    torch::Tensor wanted;
    {
      torch::NoGradGuard none;
      wanted = gains + 0.9 * worth->forward(nexts, mover->forward(nexts));
    }
    const auto miss = (worth->forward(states, moves) - wanted).pow(2).mean();
    worthSteps.zero_grad();
    miss.backward();
    worthSteps.step();
    const auto lost = -worth->forward(states, mover->forward(states)).mean();
    moverSteps.zero_grad();
    lost.backward();
    moverSteps.step();
    if (t % 10 == 0) std::printf("%d: %.12f %.12f\n", t, miss.item<double>(), lost.item<double>());
  }
  torch::save(mover, "mover.pt");
  torch::save(worth, "worth.pt");
}
