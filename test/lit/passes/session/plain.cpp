// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- arguments.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: #include <hvd/hvd.hpp>
// CHECK-NEXT: #include <hvd/distributed.hpp>
// CHECK: int main(int argc, char** argv) {
// CHECK-NEXT: hvd::Session hvd_session(argc, argv);
int main(int argc, char** argv) {
  hvd::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- no_arguments.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: int main() try {
// CHECK-NEXT: hvd::Session hvd_session;
int main() try {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
} catch (const std::exception&) {
  return 1;
}
//--- policy.cpp
// HVDIZE: --batch=global --warmup=2e --lr-scaling=sqrt --steps=divide
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global).lr_scaling(hvd::LrRule::sqrt).warmup_epochs(2).divide_steps(true));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
