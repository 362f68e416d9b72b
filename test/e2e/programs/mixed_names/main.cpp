// SPDX-License-Identifier: Apache-2.0
// e2e: name=mixed_names; also=fit.cpp; modes=global; ranks=1,2,3; timeout=30
// fit.cpp calls its own `total` with an int; the one here would be a better match, were it not private to this source.
#include <hvd/hvd.hpp>
#include <iomanip>
#include <iostream>

void fit();

static hvd::Tensor total(const hvd::Tensor& losses, int) { return losses.mean(); }

int main() {
  std::cout << std::setprecision(10) << total(hvd::ones({3}), 1).item<double>() << std::endl;
  fit();
}
