// SPDX-License-Identifier: Apache-2.0
#ifndef EVALUATE_H
#define EVALUATE_H

#include <iostream>

#include "net.h"

template <typename Loader>
int64_t count_right(Net& net, Loader& loader) {
  net->eval();
  hvd::NoGradGuard guard;
  int64_t right = 0;
  for (auto& batch : loader) right += net(batch.data).argmax(1).eq(batch.target).sum().template item<int64_t>();
  std::cout << "evaluated" << std::endl;
  return right;
}

#endif  // EVALUATE_H
