// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: zeros with a row for each sample, into which the values of those are put that a mask selects (the next states of Q-learning)
// form: zeros with a row for each sample, to which rows of the batch are added in place
#include <torch/torch.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(4, 8));
    second = register_module("second", torch::nn::Linear(8, 3));
  }
  torch::Tensor forward(torch::Tensor x) { return second->forward(torch::tanh(first->forward(x))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

static void copy(Net& from, Net& to) {
  torch::NoGradGuard guard;
  auto a = from->parameters(), b = to->parameters();
  for (size_t i = 0; i < a.size(); ++i) b[i].copy_(a[i]);
}

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(9);
  auto state = torch::randn({96, 4}), next = torch::randn({96, 4}), reward = torch::randn({96});
  auto action = torch::randint(0, 3, {96}, torch::kLong);
  auto done = torch::arange(96).remainder(8) > 2;  // the last ranks have no state that goes on
  Net policy, target;
  copy(policy, target);
  torch::optim::SGD optimizer(policy->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at + size <= state.size(0); at += size) {
      auto goes_on = ~done.slice(0, at, at + size);
      auto others = next.slice(0, at, at + size).index({goes_on});
      auto q = policy->forward(state.slice(0, at, at + size)).gather(1, action.slice(0, at, at + size).unsqueeze(1)).squeeze(1);
      auto values = torch::zeros({size});
      {
        torch::NoGradGuard guard;
        values.index_put_({goes_on}, std::get<0>(target->forward(others).max(1)));
      }
      auto wanted = torch::zeros({size});
      wanted.add_(reward.slice(0, at, at + size));
      auto loss = torch::smooth_l1_loss(q, wanted + 0.9 * values);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    copy(policy, target);
    std::printf("%d: %.9f\n", epoch, total);
  }
  return 0;
}
