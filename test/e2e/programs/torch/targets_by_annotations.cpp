// SPDX-License-Identifier: Apache-2.0
// e2e: name=targets_by_annotations; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_counted_in_the_loss; cxx=-DFORM=1; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: targets of a grid, built from annotations by a function that evaluation calls, too
// form: a loss by the number of positive cells, plus a mean, in a function that evaluation calls, too
// A detector's targets: lists that are as long as a batch, with room made for them first, go into a function that fills tensors cell by cell. Training and a
// held-out part share it, and the latter's loss decides when to stop.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

struct Notes {
  std::vector<double> places;
};

struct Targets {
  torch::Tensor grid, first;
};

Targets targets_of(const std::vector<Notes>& notes, int64_t cells) {
  const auto rows = static_cast<int64_t>(notes.size());
  auto grid = torch::zeros({rows, cells}, torch::kDouble), first = torch::zeros({rows}, torch::kDouble);
  for (int64_t r = 0; r < rows; ++r) {
    for (double place : notes[static_cast<size_t>(r)].places) grid.index_put_({r, static_cast<int64_t>(place * static_cast<double>(cells))}, 1.0);
    first[r] = notes[static_cast<size_t>(r)].places.front();
  }
  return Targets{grid, first};
}

struct Losses {
  torch::Tensor total, grid;
};

Losses losses_of(const torch::Tensor& out, const Targets& targets) {
#if FORM == 1
  auto positive = targets.grid.sum().clamp_min(1.0);
  auto grid = torch::nn::functional::mse_loss(out * targets.grid, targets.grid, torch::nn::functional::MSELossFuncOptions(torch::kSum)) / positive;
#else
  auto grid = torch::mse_loss(out, targets.grid);
#endif
  auto total = grid + 0.5 * torch::mse_loss(out.select(1, 0), targets.first);
  return Losses{total, grid};
}

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  std::vector<torch::Tensor> rows, held;
  std::vector<Notes> notes, held_notes;
  for (int i = 0; i < 34; ++i) {
    (i < 26 ? rows : held).push_back(torch::randn({3}, torch::kDouble));
    (i < 26 ? notes : held_notes).push_back({{0.1 * (i % 7), 0.05 * (i % 11)}});
  }
  torch::nn::Linear net(3, 4);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  double best = 1e9;
  int worse = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(size)) {
      const size_t end = std::min(rows.size(), begin + static_cast<size_t>(size));
      std::vector<torch::Tensor> some;
      std::vector<Notes> some_notes;
      some.reserve(end - begin);
      some_notes.reserve(end - begin);
      for (size_t i = begin; i < end; ++i) {
        some.push_back(rows[i]);
        some_notes.push_back(notes[i]);
      }
      const auto losses = losses_of(net(torch::stack(some)), targets_of(some_notes, 4));
      optimizer.zero_grad();
      losses.total.backward();
      optimizer.step();
      std::printf("%.9f\n", losses.total.item<double>());
    }
    torch::NoGradGuard guard;
    double total = 0;
    for (size_t begin = 0; begin < held.size(); begin += 4) {
      std::vector<torch::Tensor> some;
      std::vector<Notes> some_notes;
      some_notes.reserve(4);
      for (size_t i = begin; i < std::min(held.size(), begin + 4); ++i) {
        some.push_back(held[i]);
        some_notes.push_back(held_notes[i]);
      }
      total += losses_of(net(torch::stack(some)), targets_of(some_notes, 4)).total.item<double>();
    }
    std::printf("held out: %.9f\n", total);
    if (total < best) best = total, worse = 0;
    else if (++worse >= 2) break;
  }
  torch::save(net, "net.pt");
}
