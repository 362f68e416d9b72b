// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; scaled={5*N} {0.2*N}; ranks=1,2,3; timeout=120
// Sums are differentiated, over as many batches as it takes for a number of marks, and the gradients are divided by the marks where they are used. That is a
// mean over the marks, and the rate grows with the batch as for other means.
// form: gradients of a summed loss, divided in place by what was counted in several batches
#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 5;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.2;
  torch::manual_seed(4);
  auto sheets = torch::randn({37, 6}, torch::kDouble), answers = torch::cos(sheets);
  auto marked = torch::rand({37, 6}) < 0.6;
  torch::nn::Linear pupil(6, 6);
  pupil->to(torch::kDouble);
  torch::optim::SGD optimizer(pupil->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    int64_t marks = 0, all = 0, steps = 0;
    optimizer.zero_grad();
    for (int64_t at = 0; at < 37; at += batch) {
      const int64_t end = std::min<int64_t>(at + batch, 37);
      auto m = marked.slice(0, at, end);
      auto loss = ((pupil(sheets.slice(0, at, end)) - answers.slice(0, at, end)).pow(2) * m.to(torch::kDouble)).sum();
      loss.backward();
      sum += loss.item<double>();
      const int64_t here = m.sum().item<int64_t>();
      marks += here;
      all += here;
      if (marks < 40 && end < 37) continue;
      for (auto& p : pupil->parameters()) p.mutable_grad().div_(static_cast<double>(marks));
      optimizer.step();
      optimizer.zero_grad();
      marks = 0;
      ++steps;
    }
    std::cout << "epoch " << epoch << ": " << std::setprecision(10) << sum / static_cast<double>(all) << " of " << all << " marks, " << steps << " steps" << std::endl;
  }
  torch::save(pupil, "pupil.pt");
}
