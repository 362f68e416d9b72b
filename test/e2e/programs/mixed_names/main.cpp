// SPDX-License-Identifier: Apache-2.0
// e2e: name=mixed_names; also=fit.cpp; modes=global; ranks=1,2,3; timeout=30
// fit.cpp calls its own `tell` with a double; the one here would be a better match, were it not private to this source.
#include <hvd/hvd.hpp>
#include <iomanip>
#include <iostream>

void fit();

static double tell(double value) { return 2 * value; }

int main() {
  std::cout << std::setprecision(10) << tell(1.5) << std::endl;
  fit();
}
