// SPDX-License-Identifier: Apache-2.0
// e2e: name=torch/private_names; also=fit.cpp judge.cpp; scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Static functions, constants, aliases and types in unnamed namespaces that have one name in several sources: each source means its own.
#include <torch/torch.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "model.h"

namespace {

using Count = int;
constexpr Count kRounds = 3;

struct Line {
  const char* what;
  double value;
};

void show(const Line& line) { std::cout << line.what << " " << std::setprecision(12) << line.value << std::endl; }

}  // namespace

static double train(Net& net, const Settings& settings) {
  net->train();
  return fit(net, settings);
}

int main(int argc, char** argv) {
  Settings settings;
  if (argc > 2) settings.batch = std::atoll(argv[1]), settings.rate = std::atof(argv[2]);
  torch::manual_seed(5);
  Net net;
  for (Count round = 0; round < kRounds; ++round) {
    show({"loss", train(net, settings)});
    show({"right", judge(net)});
  }
  torch::save(net, "net.pt");
}
