// SPDX-License-Identifier: Apache-2.0
#include "model.h"

static const int64_t kRounds = 40;

static double paired(double right) { return right * 2; }
static double shared(double right) { return right / kRounds; }

static void train(Net& net, bool on) { net->train(on); }

double judge(Net& net) {
  static const hvd::Tensor x = hvd::randn({kRounds, 5}, hvd::kFloat64), y = hvd::randint(0, 3, {kRounds});
  hvd::NoGradGuard no_grad;
  train(net, false);
  const double right = net(x).argmax(1).eq(y).sum().item<double>();
  train(net, true);
  return shared(paired(right)) / 2;
}
