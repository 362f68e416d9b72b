// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- argument.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


#define IF_VERBOSE(statement) if (verbose) { statement; }

int main(int argc, char**) {
  const bool verbose = argc > 1;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  IF_VERBOSE(std::cout << "done\n")  // refused: HVD3001
}
//--- body.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


#define SAY(x) std::cout << (x) << "\n"

// CHECK: if (hvd::is_root()) SAY("done");
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  SAY("done");
}
//--- handler.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#define COMPLAIN(what) std::cerr << "failed: " << (what) << "\n"

// CHECK: } catch (const std::exception& e) {
// CHECK-NEXT: COMPLAIN(e.what());
int main() {
  try {
    Net net;
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
  } catch (const std::exception& e) {
    COMPLAIN(e.what());  // says: HVD2014
    return 1;
  }
}
