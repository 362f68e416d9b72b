// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// What functions that print return is asked by every rank, or by nobody.
#include <torch/torch.h>
#include <cstdarg>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <unistd.h>
static int say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vprintf(format, arguments);
  va_end(arguments);
  return n;
}
static int tell(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vprintf(format, arguments);
  va_end(arguments);
  return n;
}
int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  auto x = torch::rand({50, 3}, torch::kDouble);
  auto y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  int64_t width = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto loss = torch::mse_loss(net->forward(x.slice(0, i, std::min<int64_t>(i + batch, 50))), y.slice(0, i, std::min<int64_t>(i + batch, 50)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    say("epoch %d\n", epoch);
    width += tell("loss %.9f\n", sum);
    width += std::printf("%d lines\n", epoch);
    const int unused = std::printf("next\n");
    (void)unused;
    epoch > 2 && std::puts("nearly done");
    char line[32];
    const int n = std::snprintf(line, sizeof line, "%d.\n", epoch);
    if (std::puts("x") < 0) return 1;
    if (std::puts("y")) width += 1;
    std::fflush(stdout);
    width += ::write(STDOUT_FILENO, line, static_cast<size_t>(n));
    if (width > 70) for (auto& group : optimizer.param_groups()) static_cast<torch::optim::SGDOptions&>(group.options()).lr(0.5 * static_cast<torch::optim::SGDOptions&>(group.options()).lr());
  }
  std::cout << std::setprecision(12) << width << net->weight << std::endl;
}
