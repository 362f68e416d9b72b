// SPDX-License-Identifier: Apache-2.0
// e2e: name=forms_files; shortcuts=all; also=model.cpp; scaled={7*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: code split over several files
// form: training function as a template in a header
// form: best-model checkpoint and resume
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include "model.h"
#include "trainer.h"

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atol(argv[1]) : 7;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  std::cout.precision(11);
  Classifier model(5, 3);
  model->to(torch::kDouble);
  auto optimizer = std::make_unique<torch::optim::SGD>(model->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rings(39).map(torch::data::transforms::Stack<>()), batch);
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const double loss = fit(model, *loader, *optimizer, 1);
    if (loss < best) {
      best = loss;
      torch::save(model, "best.pt");
      torch::save(*optimizer, "best.optimizer.pt");
    }
    std::cout << right_answers(model, 30) << " of 30 right\n";
  }
  if (std::ifstream("best.pt").good()) {
    torch::load(model, "best.pt");
    torch::load(*optimizer, "best.optimizer.pt");
  }
  std::cout << "resumed: " << fit(model, *loader, *optimizer, 2) << '\n';
  torch::save(model, "last.pt");
}
