// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>

namespace {
int hidden() { return 1; }
}  // namespace

struct Trainer {
  Trainer(const Trainer&);
  ~Trainer();
  void step(hvd::nn::Linear& net, hvd::optim::SGD& optimizer, const hvd::Tensor& data);
  int inside() { return 2; }
  static int steps;
};

template <typename T>
T twice(T x) { return x + x; }
inline int merged() { return 3; }
static int priv = hidden();
extern int elsewhere;
extern const int constant = 4;
int Trainer::steps = 0;
extern "C" int plain_name(void) { return priv + elsewhere; }

Trainer::Trainer(const Trainer&) {}
Trainer::~Trainer() = default;
void Trainer::step(hvd::nn::Linear& net, hvd::optim::SGD& optimizer, const hvd::Tensor& data) {
  static int calls = 0;
  ++calls;
  optimizer.zero_grad();
  net(data).mean().backward();
  optimizer.step();
  steps = twice(merged());
}
