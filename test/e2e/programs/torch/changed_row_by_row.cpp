// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: rows that are cut out, copied, and then changed one by one (augmentation), as the program's own generator or a draw of the framework says, in the step or in a function that gets the rows
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

using torch::Tensor;

static void flip_some(Tensor& rows, std::mt19937& random) {
  for (int64_t i = 0; i < rows.size(0); ++i)
    if (random() % 2) rows[i] = rows[i].flip(2);
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const Tensor x = torch::rand({44, 1, 6, 6}), y = torch::randint(0, 3, {44}, torch::kLong);
  torch::nn::Sequential net(torch::nn::Flatten(), torch::nn::Linear(36, 3));
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::mt19937 random(3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t right = 0, seen = 0;
    for (int64_t at = 0; at < 44; at += size) {
      const int64_t end = std::min<int64_t>(44, at + size);
      Tensor rows = x.slice(0, at, end).clone();
      flip_some(rows, random);
      for (int64_t i = 0; i < end - at; ++i) {
        if (torch::rand({1}).item<double>() < 0.3) rows[i].add_(0.1).clamp_(0, 1);
        Tensor row = rows[i];
        if (random() % 3 == 0) row.mul_(0.5);
        rows.select(0, i).copy_(torch::roll(rows.select(0, i), static_cast<int64_t>(random() % 3) - 1, 1));
      }
      const Tensor labels = y.slice(0, at, end);
      const Tensor out = net->forward(rows);
      const Tensor loss = torch::nn::functional::cross_entropy(out, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * rows.size(0);
      right += out.argmax(1).eq(labels).sum().item<int64_t>();
      seen += labels.size(0);
    }
    for (int64_t at = 0; at < 44; at += size) {
      const int64_t end = std::min<int64_t>(44, at + size);
      Tensor noisy = x.slice(0, at, end).clone();
      for (int64_t i = 0; i < noisy.size(0); ++i) noisy[i].sub_(0.01 * static_cast<double>(random() % 5));
      noisy = noisy.to(torch::kCPU);
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(net->forward(noisy), y.slice(0, at, end)).backward();
      optimizer.step();
    }
    std::printf("%d %.9f %ld of %ld\n", epoch, sum / seen, static_cast<long>(right), static_cast<long>(seen));
  }
  return 0;
}
