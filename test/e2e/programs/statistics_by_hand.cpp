// e2e: modes=global; ranks=1,2,3; timeout=60
// e2e: modes=global; name=statistics_counted; cxx=-DCOUNTED=1; ranks=1,2,3; timeout=60
// A network that normalises by statistics of the whole batch, written by hand: gradients flow through them, over ranks too.
#include <hvd/hvd.hpp>

#include <cstdio>

namespace nn = hvd::nn;
using hvd::Tensor;

#ifndef COUNTED
#define COUNTED 0
#endif

struct NetImpl : nn::Module {
  NetImpl() : in(register_module("in", nn::Linear(4, 6))), out(register_module("out", nn::Linear(6, 3))) {}
  Tensor forward(const Tensor& x) {
    Tensor h = in(x);
    Tensor mean = h.mean(0);
    Tensor spread = (h - mean).square().mean(0);
    return out(((h - mean) / (spread + 0.01).sqrt()).tanh());
  }
  nn::Linear in, out;
};
HVD_MODULE(Net);

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(7);
  const int64_t n = 49, batch = 8;  // the last batch has one sample
  Tensor x = hvd::randn({n, 4}) + 1, labels = (x.select(1, 0) > x.select(1, 1)).to(hvd::kInt64) * 2;
  if (COUNTED)
    for (const int64_t i : {1, 2, 11, 20, 21}) labels.select(0, i).fill_(-1);
  Net net;
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.5));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < n; i += batch) {
      Tensor y = labels.slice(0, i, i + batch);
#if COUNTED
      Tensor loss = nn::functional::cross_entropy(net->forward(x.slice(0, i, i + batch)), y, nn::CrossEntropyLossOptions().ignore_index(-1));
#else
      Tensor loss = nn::functional::cross_entropy(net->forward(x.slice(0, i, i + batch)), y);
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::printf("epoch %d loss %.10f\n", epoch, sum);
  }
}
