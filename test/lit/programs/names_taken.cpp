// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Names that the source has already, for whatever they stand there: what is added gets others.
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

#define hvd_session2 4

int hvd_step() { return 2; }

// CHECK: int main(int hvd_session, char** hvd_loss) {
// CHECK-NEXT: hvd::Session hvd_session3(hvd_session, hvd_loss);
// CHECK: hvd::StepScope hvd_step2;
// CHECK: const auto hvd_loss2 = hvd::batch_mean(loss.item<double>());
// CHECK-NEXT: sum += hvd_loss2;
// CHECK-NEXT: if (hvd::is_root()) std::printf("%f\n", hvd_loss2);
int main(int hvd_session, char** hvd_loss) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1 * hvd_step() * hvd_session2));
  auto data = hvd::rand({40, 4});
  double sum = 0;
  for (int64_t i = 0; i < 40; i += 10) {
    auto loss = hvd::mean(hvd::square(net->forward(data.slice(0, i, i + 10))));
    opt.zero_grad();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
    std::printf("%f\n", loss.item<double>());
  }
  std::printf("%f %s\n", sum, hvd_loss[0]);
}
