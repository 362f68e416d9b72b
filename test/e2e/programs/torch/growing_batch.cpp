// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a batch size that grows while training goes on, and a rate that follows its ratio to the first one
// SPDX-License-Identifier: Apache-2.0
//
// The rate is scaled once: neither the ratio in its schedule nor the one that is printed knows of ranks.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const int64_t first = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(4);
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  const torch::Tensor x = torch::randn({83, 5}), y = (x.sum(1, true) > 0).to(torch::kDouble);
  int64_t batch = first;
  for (int epoch = 0; epoch < 4; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += batch) {
      const torch::Tensor in = x.slice(0, at, at + batch);
      const torch::Tensor loss = torch::binary_cross_entropy_with_logits(net->forward(in), y.slice(0, at, at + batch));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * static_cast<double>(in.size(0));
    }
    if (epoch % 2 == 1) {
      batch *= 2;
      optimizer.param_groups()[0].options().set_lr(rate * static_cast<double>(batch) / first);
    }
    std::printf("epoch %d: loss %.12f, %.2f times the first batch\n", epoch, total / 83, static_cast<double>(batch) / static_cast<double>(first));
  }
  torch::save(net, "net.pt");
}
