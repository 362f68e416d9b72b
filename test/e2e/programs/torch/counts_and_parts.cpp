// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=90
// Counts of samples by other ways than size(0), and parts of a batch gone through one by one; means beside sums that are divided by the number of
// samples.
// form: extents counted from the back
// form: range-for over the rows of a batch, for a metric
// form: a mean beside a sum over positions
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

namespace F = torch::nn::functional;

static double train_on_mean(torch::optim::Optimizer& opt, const torch::Tensor& loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item<double>();
}

static double train_on_sum(torch::optim::Optimizer& opt, const torch::Tensor& loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item<double>();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t samples = 49, batch = std::stoll(argv[1]);
  torch::manual_seed(5);
  auto x = torch::randn({samples, 6}, torch::kDouble), y = x.slice(1, 0, 3).argmax(1);
  torch::nn::Sequential net(torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 3));
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(std::stod(argv[2])).momentum(0.5));
  std::cout << std::setprecision(9);
  const int64_t batches = (samples + batch - 1) / batch;
  for (int epoch = 0; epoch < 2; ++epoch) {
    double losses = 0, norms = 0, parts = 0, rows = 0;
    auto order = torch::randperm(samples);
    for (int64_t i = 0; i < samples; i += batch) {
      auto idx = order.slice(0, i, std::min(i + batch, samples));
      auto bx = x.index_select(0, idx), by = y.index_select(0, idx);
      auto out = net->forward(bx);
      losses += train_on_mean(opt, F::cross_entropy(out, by) + F::mse_loss(out, bx.slice(1, 0, 3), F::MSELossFuncOptions(torch::kSum)) / by.size(-1));
      for (const auto& row : bx.unbind()) norms += row.norm().item<double>();
      for (auto part : out.detach().chunk(2)) parts += part.norm().item<double>();
      rows += bx.size(-2) + static_cast<double>(by.size(-1));
      for (int64_t d = 0; d < bx.dim(); ++d) rows += bx.size(d);
    }
    std::cout << "epoch " << epoch << ' ' << losses << ' ' << norms << ' ' << parts << ' ' << rows << '\n';

    losses = 0;
    for (int64_t b = 0; b < batches; ++b) {
      auto bx = x.slice(0, b * batch, std::min((b + 1) * batch, samples)), by = y.slice(0, b * batch, std::min((b + 1) * batch, samples));
      auto out = net->forward(bx);
      std::cout << c10::str("batch of ", bx.size(0)) << '\n';
      losses += train_on_sum(opt, F::mse_loss(out, bx.slice(1, 0, 3), F::MSELossFuncOptions(torch::kSum)) / torch::full({}, bx.size(0), torch::kDouble));
      auto first = (by == 0).to(torch::kDouble);
      losses += train_on_sum(opt, (net->forward(bx).select(1, 0) * first).sum() / first.sum().clamp_min(1) + 0.5 * net->forward(bx).pow(2).mean());
    }
    for (int64_t i = 0; i < samples; i += batch) {
      const int64_t end = std::min(i + batch, samples);
      auto bx = x.slice(0, i, end), by = y.slice(0, i, end);
      auto out = net->forward(bx);
      losses += train_on_sum(opt, F::cross_entropy(out, by) + out.pow(2).sum() / (end - i));
      losses += train_on_sum(opt, net->forward(bx).pow(2).sum() / (end - i));
    }
    std::cout << "sums " << losses << '\n';
  }
}
