// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a dimension in a variable that never changes, and in an optional one
// form: guesses compared with the labels in place
#include <torch/torch.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

static int64_t count_hits(torch::Tensor scores, const torch::Tensor& labels) {
  if (scores.dim() > 1) {
    c10::optional<int64_t> along = {1};
    scores = torch::argmax(scores, along);
  }
  return (scores == labels).sum().item<int64_t>();
}

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  auto x = torch::randn({92, 4, 3});
  auto y = (x.sum({1, 2}) > 0).to(torch::kLong);
  torch::nn::Linear net(3, 2);
  torch::optim::SGD optimizer(net->parameters(), rate);
  int64_t classes = 1, words = 1;
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    int64_t hits = 0, most = 0, same = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      auto input = x.slice(0, at, std::min(at + size, x.size(0)));
      auto labels = y.slice(0, at, std::min(at + size, x.size(0)));
      auto scores = net->forward(input.mean(words));
      auto loss = torch::nll_loss(torch::log_softmax(scores, classes), labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * input.size(0);
      hits += count_hits(scores, labels);
      auto guess = torch::argmax(scores, classes);
      most += guess.sum().item<int64_t>();
      guess.eq_(labels);
      same += guess.sum().item<int64_t>();
    }
    std::printf("%d: %.9f %ld %ld %ld\n", epoch, total / x.size(0), static_cast<long>(hits), static_cast<long>(most), static_cast<long>(same));
  }
  return 0;
}
