// SPDX-License-Identifier: Apache-2.0
// e2e: name=rate_of_the_best_trial; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=share_of_a_base_rate; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Rates in records: of trials, the best of which gives the next ones theirs; of settings, as shares of one rate.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

struct Trial {
  double rate, loss;
};

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
#if FORM == 0
  double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
#else
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
#endif
  torch::manual_seed(14);
  const torch::Tensor x = torch::sin(torch::arange(46 * 3, torch::kDouble) * 0.8).view({46, 3}), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
// form: the number of batches as a quotient, and one more where something is left
  const int64_t batches = x.size(0) / size + (x.size(0) % size != 0 ? 1 : 0);
  for (int round = 0; round < 2; ++round) {
// form: the rate of the best of several trials, which were made from it
    std::vector<Trial> trials{{rate, 0}, {rate / 2, 0}};
    for (Trial& trial : trials) {
      torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(trial.rate));
#if FORM == 1
// form: the share that a rate is of the one which it was made from
      const double share = trial.rate / rate;
      std::printf("%.3f of the rate\n", trial.rate / rate);
#else
      const double share = 1;
#endif
      for (int64_t b = 0; b < batches; ++b) {
        const torch::Tensor in = x.slice(0, b * size, (b + 1) * size);
        const torch::Tensor loss = torch::mse_loss(net(in), y.slice(0, b * size, (b + 1) * size)) + 0.01 * share * net->weight.square().sum();
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        trial.loss += loss.item<double>();
      }
    }
#if FORM == 0
    const Trial best = trials[0].loss < trials[1].loss ? trials[0] : trials[1];
    rate = best.rate;
    std::printf("%.9f after %lld batches\n", best.loss, static_cast<long long>(batches));
#endif
  }
  torch::save(net, "net.pt");
}
