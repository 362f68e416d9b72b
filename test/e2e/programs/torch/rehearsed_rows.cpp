// SPDX-License-Identifier: Apache-2.0
// e2e: name=rehearsed_rows; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=rehearsed_memory; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=weights_of_parameters; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Beside its batch a step uses what is no part of it: rows that are kept over the steps, and lists of numbers for each parameter.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

#if FORM == 2
// form: lists of weights of the parameters, of which each item is added to
class Anchor {
 public:
  explicit Anchor(torch::nn::Linear& net) {
    for (const Tensor& p : net->parameters()) {
      at_.push_back(p.detach().clone() * 0.5);
      weights_.push_back(torch::ones_like(p));
    }
    for (size_t k = 0; k < weights_.size(); ++k) weights_[k] += at_[k].abs();
  }
  Tensor operator()(torch::nn::Linear& net) const {
    const std::vector<Tensor> now = net->parameters();
    Tensor sum = torch::zeros({}, torch::kDouble);
    for (size_t k = 0; k < now.size(); ++k) sum = sum + (weights_[k] * (now[k] - at_[k]).square()).sum();
    return sum;
  }

 private:
  std::vector<Tensor> at_, weights_;
};
#endif

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  torch::manual_seed(9);
  const Tensor x = torch::sin(torch::arange(61 * 5, torch::kDouble) * 0.3).view({61, 5}), y = x.sum(1, true).cos();
  torch::nn::Linear net(5, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
#if FORM == 2
  const Anchor anchor(net);
#else
  std::vector<Tensor> kept, answers;
#if FORM == 0
// form: rows that were kept before the training, stacked in each step beside its batch
  for (int64_t k = 0; k < 4; ++k) {
    kept.push_back(x[k * 7]);
    answers.push_back(y[k * 7] + 0.1);
  }
#endif
#endif
  for (int64_t at = 0; at < x.size(0); at += size) {
    const Tensor in = x.slice(0, at, at + size), wanted = y.slice(0, at, at + size);
    Tensor loss = torch::mse_loss(net(in), wanted);
#if FORM == 2
    loss = loss + 0.5 * anchor(net);
#else
    if (!kept.empty()) loss = loss + 0.5 * torch::mse_loss(net(torch::stack(kept)), torch::stack(answers));
#endif
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
#if FORM == 1
// form: a memory of so many rows that fills from the batches, stacked in each step beside its batch
    for (int64_t k = 0; k < in.size(0) && kept.size() < 6; ++k) {
      kept.push_back(in[k].clone());
      answers.push_back(wanted[k].clone());
    }
#endif
    std::printf("%.9f\n", loss.item<double>());
  }
  torch::save(net, "net.pt");
}
