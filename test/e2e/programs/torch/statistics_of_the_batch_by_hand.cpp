// e2e: name=centred; scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=120
// e2e: name=variance; cxx=-DFORM=1; scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=120
// e2e: name=deviation; cxx=-DFORM=2; scaled={8*N} {0.002*N}; ranks=1,2,3; timeout=120
// e2e: name=counted; cxx=-DFORM=3; scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=120
// e2e: name=attended; cxx=-DFORM=4; scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=120
// form: x - x.mean(0) inside of a network; gradients flow through the mean over all ranks
// form: x.var(0, false), x.std(0) inside of a network, of the rows of all ranks, with their gradients
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

#ifndef FORM
#define FORM 0
#endif

// Batch norm as it is written by hand: the statistics are those of the whole batch, and a part of the graph.
struct OwnNormImpl : torch::nn::Module {
  torch::Tensor gamma, beta, running_mean, running_var;
  explicit OwnNormImpl(int64_t width) {
    gamma = register_parameter("gamma", torch::ones({width}));
    beta = register_parameter("beta", torch::zeros({width}));
    running_mean = register_buffer("running_mean", torch::zeros({width}));
    running_var = register_buffer("running_var", torch::ones({width}));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (!is_training()) return (x - running_mean) / (running_var + 1e-3).sqrt() * gamma + beta;
#if FORM == 1
    auto mean = x.mean(0), var = x.var(0, false);
#elif FORM == 2
    auto mean = x.mean(0), var = (x.std(0, false) + 0.1).square();
#elif FORM == 4
    auto summary = torch::softmax(x, 1).sum(0, true) / x.size(0);
    auto mean = (x * summary).mean(0), var = (x - mean).abs().mean(0) + summary.squeeze(0);
#else
    auto mean = x.mean(0), var = (x - mean).pow(2).mean(0);
#endif
    {
      torch::NoGradGuard guard;
      running_mean.mul_(0.9).add_(mean.detach(), 0.1);
      running_var.mul_(0.9).add_(var.detach(), 0.1);
    }
    return (x - mean) / (var + 1e-3).sqrt() * gamma + beta;
  }
};
TORCH_MODULE(OwnNorm);

int main(int argc, char** argv) {
  const int64_t batch = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(211);
  // The last batch has one sample, which leaves ranks without any.
  auto x = 2 + torch::randn({97, 4}), y = x.sum(1, true);
  auto labels = (x.select(1, 0) > 2).to(torch::kLong) + 2 * (x.select(1, 1) > 2).to(torch::kLong) - 1;  // -1 does not count
  torch::nn::Sequential net(torch::nn::Linear(4, 6), OwnNorm(6), torch::nn::Tanh(), torch::nn::Linear(6, FORM == 3 ? 3 : 1));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  for (int epoch = 0; epoch < 3; ++epoch) {
    net->train();
    double total = 0;
    for (int64_t i = 0; i < 97 - (FORM == 3 ? 1 : 0); i += batch) {
      auto rows = net->forward(x.slice(0, i, i + batch));
#if FORM == 3
      auto loss = torch::nn::functional::cross_entropy(rows, labels.slice(0, i, i + batch), torch::nn::functional::CrossEntropyFuncOptions().ignore_index(-1));
#else
      auto loss = torch::mse_loss(rows, y.slice(0, i, i + batch));
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    net->eval();
    torch::NoGradGuard guard;
    std::printf("%d %.10f %.10f\n", epoch, total, net->forward(x).square().mean().item<double>());
  }
}
