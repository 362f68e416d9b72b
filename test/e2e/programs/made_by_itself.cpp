// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// A model from a function that calls itself, and a rate from a schedule that asks another one of its kind.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

hvd::nn::Linear last(std::vector<hvd::nn::Linear>& all, size_t at) {
  if (at + 1 >= all.size()) return all[at];
  return last(all, at + 1);
}

struct Schedule {
  virtual double at(int epoch) const = 0;
  virtual ~Schedule() = default;
};
struct Constant : Schedule {
  explicit Constant(double rate) : rate_(rate) {}
  double at(int) const override { return rate_; }
  double rate_;
};
struct Named : Schedule {
  explicit Named(const Schedule* inner) : inner_(inner) {}
  double at(int epoch) const override { return inner_->at(epoch); }
  const Schedule* inner_;
};

int main(int, char** argv) {
  hvd::manual_seed(5);
  const long size = std::strtol(argv[1], nullptr, 10);
  auto x = hvd::randn({48, 6}, hvd::kFloat64), y = x.sum(1).reshape({-1, 1});
  std::vector<hvd::nn::Linear> all{hvd::nn::Linear(6, 1)};
  auto net = last(all, 0);
  net->to(hvd::kFloat64);
  const Constant constant(std::atof(argv[2]));
  const Named named(&constant);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(named.at(0)));
  for (long i = 0; i < 48; i += size) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net(x.slice(0, i, i + size)), y.slice(0, i, i + size));
    loss.backward();
    opt.step();
    std::printf("%.9f\n", loss.item<double>());
  }
  hvd::save(net, "net.safetensors");
}
