// SPDX-License-Identifier: Apache-2.0
// e2e: name=sums_beside_means; modes=global; args=6 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// e2e: name=masked_sums_beside_means; cxx=-DFORM=1; modes=global; args=6 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// e2e: name=divergence_beside_a_mean; cxx=-DFORM=2; modes=global; args=6 0.02; ranks=1,2,3; timeout=90; warns=HVD2010
// e2e: name=sums_for_gradients_of_inputs; cxx=-DFORM=3; modes=global; args=6 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// e2e: name=rates_of_growing_batches; cxx=-DFORM=4; modes=global; args=6 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// form: a loss that adds a sum over the samples to a mean
// form: a KL divergence that is summed, beside a mean reconstruction error
// form: a summed loss whose backward pass only gives the gradient of the input
// form: a rate made from a scaled rate and from a batch size that grows
// No rule says how a rate is to follow the batch: the gradient of the sum grows with it, that of the mean does not. Such batches stay as they are.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#ifndef FORM
#define FORM 0
#endif

int main(int argc, char** argv) {
  torch::manual_seed(1);
#if FORM == 4
  int64_t size = argc > 1 ? std::atoll(argv[1]) : 6;
#else
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 6;
#endif
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({44, 3}, torch::kDouble), y = torch::tanh(x.slice(1, 0, 2));
  torch::nn::Linear net(3, 2), spread(3, 2);
  net->to(torch::kDouble);
  spread->to(torch::kDouble);
  torch::optim::SGD optimizer({torch::optim::OptimizerParamGroup(net->parameters()), torch::optim::OptimizerParamGroup(spread->parameters())}, torch::optim::SGDOptions(rate));
  torch::nn::L1Loss sum(torch::nn::L1LossOptions().reduction(torch::kSum)), mean;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t at = 0; at < 44; at += size) {
      auto in = x.slice(0, at, std::min<int64_t>(44, at + size)), wanted = y.slice(0, at, std::min<int64_t>(44, at + size));
#if FORM == 3
      in = in.clone().requires_grad_(true);
      net->forward(in).sum().backward();
      in = (in + 0.1 * in.grad().sign()).detach();
#endif
      auto out = net->forward(in);
#if FORM == 0
      auto loss = sum(out, wanted) * 0.1 + mean(out, wanted);
#elif FORM == 1
      auto mask = wanted > 0;
      auto loss = mean(out, wanted) + sum(torch::masked_select(out, mask), torch::masked_select(wanted, mask));
#elif FORM == 2
      auto log_variance = spread->forward(in);
      auto kld = -0.5 * torch::sum(1 + log_variance - out.pow(2) - log_variance.exp());
      auto loss = torch::mse_loss(out, wanted) + 0.01 * kld;
#else
      auto loss = mean(out, wanted);
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%d %lld %.9f\n", epoch, static_cast<long long>(at), loss.item<double>());
    }
#if FORM == 4
    size *= 2;
    const double scale = static_cast<double>(size) / 6;
    for (auto& group : optimizer.param_groups()) group.options().set_lr(rate * scale);
#endif
  }
  torch::save(net, "net.pt");
}
