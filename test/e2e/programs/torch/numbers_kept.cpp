// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; scaled={6*N} {0.1*N}; ranks=1,2,3; timeout=120
// A function lays rows of several lengths beside each other, and the loss is a sum over a mask in its struct, divided by that mask. A layer of the
// program's own keeps running statistics without gradients. Losses stand in a list in braces, and are gone through by number. What steps keep: numbers copied
// from memory to plain vectors, and the rows of a batch under a condition.
// form: a struct of collated tensors, whose mask divides the loss
// form: running statistics of a layer of one's own, kept under a NoGradGuard
// form: losses in a list in braces, gone through by number
// form: numbers copied from the memory of a tensor to a plain vector
// form: rows of a batch kept under a condition, and read when the steps are over
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <vector>

struct Beads {
  torch::Tensor length, colour, there;
};

// Strings of beads, the shorter ones filled up.
static Beads lay(const std::vector<std::vector<double>>& strings, const std::vector<int64_t>& chosen) {
  size_t longest = 0;
  for (int64_t i : chosen) longest = std::max(longest, strings[i].size());
  const auto n = static_cast<int64_t>(chosen.size()), most = static_cast<int64_t>(longest);
  Beads b{torch::zeros({n, most}, torch::kDouble), torch::zeros({n, most}, torch::kDouble), torch::zeros({n, most}, torch::kDouble)};
  for (size_t row = 0; row < chosen.size(); ++row)
    for (size_t k = 0; k < strings[chosen[row]].size(); ++k) {
      b.length[row][k] = strings[chosen[row]][k];
      b.colour[row][k] = std::sin(3 * strings[chosen[row]][k]);
      b.there[row][k] = 1.0;
    }
  return b;
}

// Brings columns to a common size, by what it has seen of all batches so far.
struct LevellerImpl : torch::nn::Module {
  torch::Tensor middle, spread;
  LevellerImpl() {
    middle = register_buffer("middle", torch::zeros({4}, torch::kDouble));
    spread = register_buffer("spread", torch::ones({4}, torch::kDouble));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (is_training()) {
      torch::NoGradGuard quiet;
      middle.mul_(0.8).add_(x.mean(0), 0.2);
      spread.mul_(0.8).add_(x.var(0, false), 0.2);
    }
    return (x - middle) / (spread + 0.01).sqrt();
  }
};
TORCH_MODULE(Leveller);

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(21);
  std::cout << std::setprecision(10);

  std::vector<std::vector<double>> strings;
  for (int64_t i = 0; i < 33; ++i) {
    strings.emplace_back();
    for (int64_t k = 0; k < 1 + i * 5 % 4; ++k) strings.back().push_back(0.1 * static_cast<double>(i % 7) - 0.2 * static_cast<double>(k));
  }
  torch::nn::Linear bead(1, 1);
  bead->to(torch::kDouble);
  torch::optim::SGD tuner(bead->parameters(), rate);
  for (int64_t at = 0; at < 33; at += batch) {
    std::vector<int64_t> chosen;
    for (int64_t i = at; i < std::min<int64_t>(at + batch, 33); ++i) chosen.push_back(i);
    auto b = lay(strings, chosen);
    auto off = (bead(b.length.unsqueeze(2)).squeeze(2) - b.colour).abs();
    auto loss = (off * b.there).sum() / b.there.sum();
    tuner.zero_grad();
    loss.backward();
    tuner.step();
    std::cout << "beads " << loss.item<double>() << '\n';
  }

  auto points = torch::randn({40, 3}, torch::kDouble), height = points.prod(1, true);
  torch::nn::Linear in(3, 4), out(4, 1);
  Leveller level;
  in->to(torch::kDouble);
  out->to(torch::kDouble);
  auto all = in->parameters();
  for (const auto& p : out->parameters()) all.push_back(p);
  torch::optim::SGD optimizer(all, torch::optim::SGDOptions(rate));
  torch::Tensor worst;
  double record = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<double> misses;
    for (int64_t at = 0; at < 40; at += batch) {
      auto x = points.slice(0, at, std::min<int64_t>(at + batch, 40)), y = height.slice(0, at, std::min<int64_t>(at + batch, 40));
      auto guess = out(torch::tanh(level(in(x))));
      std::vector<torch::Tensor> losses{torch::mse_loss(guess, y), torch::l1_loss(guess, y)};
      torch::Tensor total = torch::zeros({}, torch::kDouble);
      for (size_t k = 0; k < losses.size(); ++k) {
        total = total + losses[k] / static_cast<double>(k + 1);
        std::cout << "part " << k << ": " << losses[k].item<double>() << '\n';
      }
      optimizer.zero_grad();
      total.backward();
      optimizer.step();
      auto missed = (guess.detach() - y).abs().contiguous();
      misses.insert(misses.end(), missed.data_ptr<double>(), missed.data_ptr<double>() + missed.numel());
      std::vector<double> here(missed.data_ptr<double>(), missed.data_ptr<double>() + missed.numel());
      if (here.back() > record) {
        record = here.back();
        worst = x.clone();
      }
    }
    std::nth_element(misses.begin(), misses.begin() + 20, misses.end());
    std::cout << "epoch " << epoch << ": " << misses.size() << " misses, median " << misses[20] << ", worst batch of " << worst.size(0) << ": " << worst.sum().item<double>() << ", middle "
              << level->middle.sum().item<double>() << std::endl;
  }
}
