// e2e: args=; scaled={6*N} {0.1*N}; ranks=1,2,3; timeout=90
// A module that keeps its latest output in a member, which another of its functions reads, as actor-critics do; it may start as something of another shape.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct PolicyImpl : torch::nn::Module {
  PolicyImpl() : squashed(torch::full(2, 0.)) {
    first = register_module("first", torch::nn::Linear(4, 8));
    last = register_module("last", torch::nn::Linear(8, 2));
    log_std = register_parameter("log_std", torch::zeros(2));
  }

  torch::Tensor forward(torch::Tensor x) {
    mean = torch::relu(first(x));
    mean = torch::tanh(last(mean));
    squashed = mean.clamp(-0.9, 0.9);
    return mean;
  }

  torch::Tensor log_prob(torch::Tensor action) {
    auto var = (log_std + log_std).exp();
    return -(action - mean).pow(2) - 0.1 * (action - squashed).abs() / (2 * var) - log_std;
  }

  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::Tensor mean, squashed, log_std;
};
TORCH_MODULE(Policy);

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(5);
  Policy policy;
  policy->to(torch::kFloat64);
  auto states = torch::rand({26, 4}, torch::kFloat64);
  auto actions = torch::rand({26, 2}, torch::kFloat64), gains = torch::rand({26, 1}, torch::kFloat64);
  torch::optim::SGD optimizer(policy->parameters(), rate);
  for (int64_t i = 0; i < 26; i += batch) {
    auto s = states.slice(0, i, i + batch), a = actions.slice(0, i, i + batch);
    auto g = gains.slice(0, i, i + batch);
    policy->forward(s);
    auto loss = -(policy->log_prob(a) * g).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("loss %.8f\n", loss.item<double>());
  }
  torch::save(policy, "trained.pt");
}
