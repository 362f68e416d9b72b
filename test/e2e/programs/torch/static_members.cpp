// SPDX-License-Identifier: Apache-2.0
// e2e: name=static_members; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=sample_lists_handed_to_the_step; cxx=-DFORM=1; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: a static member that holds the size of a batch, read in its class and, behind its definition, outside of it
// form: a list of drawn samples, as many as a member says, that the function of the step gets
#include <torch/torch.h>

#include <iostream>
#include <random>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

#if FORM == 0
class Trainer {
 public:
  Trainer(const Tensor& x, const Tensor& y) : x_(x), y_(y) { net->to(torch::kDouble); }

  void step(torch::optim::SGD& optimizer, int64_t number) {
    const int64_t at = number * size, end = std::min(at + size, x_.size(0));
    const Tensor out = net(x_.slice(0, at, end)), loss = torch::mse_loss(out, y_.slice(0, at, end));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.item<double>() * out.size(0);
    seen += out.size(0);
  }

  torch::nn::Linear net{4, 1};
  static int64_t size, seen;
  static double total;

 private:
  Tensor x_, y_;
};
int64_t Trainer::size = 4, Trainer::seen = 0;
double Trainer::total = 0;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(4);
  Trainer::size = std::stoll(argv[1]);
  const Tensor x = torch::randn({61, 4}, torch::kDouble);
  Trainer trainer(x, x.sum(1, true));
  torch::optim::SGD optimizer(trainer.net->parameters(), std::stod(argv[2]));
  const int64_t steps = (x.size(0) + Trainer::size - 1) / Trainer::size;
  for (int64_t number = 0; number < steps; ++number) trainer.step(optimizer, number);
  std::cout << Trainer::total / Trainer::seen << " of " << Trainer::seen << "\n";
  torch::save(trainer.net, "net.pt");
  return 0;
}
#else
struct Sample {
  std::vector<double> in;
  double out;
};

class Trainer {
 public:
  explicit Trainer(int size) : size_(size) { net->to(torch::kDouble); }

  double train(torch::optim::SGD& optimizer, const std::vector<Sample>& drawn) {
    std::vector<double> x, y;
    for (const Sample& s : drawn) {
      x.insert(x.end(), s.in.begin(), s.in.end());
      y.push_back(s.out);
    }
    const Tensor in = torch::from_blob(x.data(), {static_cast<int64_t>(drawn.size()), 3}, torch::kFloat64).clone();
    const Tensor out = torch::from_blob(y.data(), {static_cast<int64_t>(drawn.size()), 1}, torch::kFloat64).clone();
    const Tensor loss = torch::mse_loss(net(in), out);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  }

  void run(torch::optim::SGD& optimizer) {
    std::vector<Sample> drawn;
    std::uniform_int_distribution<size_t> pick(0, samples.size() - 1);
    for (int i = 0; i < size_; ++i) drawn.push_back(samples[pick(engine_)]);
    std::cout << train(optimizer, drawn) << "\n";
  }

  torch::nn::Linear net{3, 1};
  std::vector<Sample> samples;

 private:
  std::mt19937 engine_{4};
  int size_;
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(1);
  Trainer trainer(std::stoi(argv[1]));
  torch::optim::SGD optimizer(trainer.net->parameters(), std::stod(argv[2]));
  for (int i = 0; i < 40; ++i) {
    trainer.samples.push_back({{0.1 * (i % 7), 0.2 * (i % 3), 0.05 * i}, 0.3 * (i % 5)});
    if (i > 20) trainer.run(optimizer);
  }
  torch::save(trainer.net, "net.pt");
  return 0;
}
#endif
