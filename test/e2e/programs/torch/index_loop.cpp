// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch_size = 20 => batch_size = {20*N}; edit=lr = 0.01 => lr = {0.01*sqrt(N)}; ranks=1,2,3; timeout=120
// No loader: a permutation, slices of it, index_select; a module holder, gradients clipped by norm, the best model saved, loaded and shown at
// the end, early stopping, a CSV log.
// form: clip_grad_norm_
// form: best model, loaded again at the end
// form: loop in main
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>

class RegressorImpl : public torch::nn::Module {
 public:
  RegressorImpl(int64_t in, int64_t hidden) {
    body = register_module("body", torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::GELU(), torch::nn::Linear(hidden, hidden),
                                                         torch::nn::ReLU()));
    head = register_module("head", torch::nn::Linear(hidden, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(body->forward(x)).squeeze(1); }

 private:
  torch::nn::Sequential body{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Regressor);

struct Data {
  torch::Tensor x, y;
};

static Data make_data(int64_t n) {
  auto x = torch::linspace(-2, 2, n * 3, torch::kDouble).reshape({n, 3}).sin() + 0.1 * torch::arange(n * 3, torch::kDouble).reshape({n, 3}).cos();
  auto y = x.select(1, 0) * x.select(1, 1) - 0.5 * x.select(1, 2);
  return {x, y};
}

double evaluate(Regressor& net, const Data& data) {
  torch::NoGradGuard guard;
  net->eval();
  const double mse = torch::mse_loss(net->forward(data.x), data.y).item().toDouble();
  net->train();
  return mse;
}

int main() {
  torch::manual_seed(11);
  const int64_t n = 130, batch_size = 20;
  const double lr = 0.01;
  const int patience = 2;
  Data train = make_data(n), validation = make_data(40);
  Regressor net(3, 12);
  net->to(torch::kDouble);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(lr).weight_decay(1e-4));
  std::ofstream log("log.csv");
  log << "epoch,train,validation\n";
  double best = std::numeric_limits<double>::infinity();
  int bad = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    auto order = torch::randperm(n, torch::kLong);
    double sum = 0, worst = 0;
    int batches = 0;
    for (int64_t at = 0; at < n; at += batch_size) {
      auto rows = order.slice(0, at, std::min(at + batch_size, n));
      auto x = train.x.index_select(0, rows);
      auto y = train.y.index_select(0, rows);
      auto loss = torch::nn::functional::smooth_l1_loss(net->forward(x), y);
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      optimizer.step();
      sum += loss.item<double>();
      worst = std::max(worst, loss.item<double>());
      ++batches;
    }
    const double checked = evaluate(net, validation);
    std::cout << std::setprecision(9) << "epoch " << epoch << " train " << sum / batches << " worst batch " << worst << " validation " << checked << '\n';
    log << epoch << ',' << sum / batches << ',' << checked << '\n';
    if (checked < best) {
      best = checked;
      bad = 0;
      torch::save(net, "best.pt");
    } else if (++bad >= patience) {
      std::cout << "stopped early\n";
      break;
    }
  }
  Regressor loaded(3, 12);
  loaded->to(torch::kDouble);
  torch::load(loaded, "best.pt");
  std::cout << "best " << best << " loaded " << evaluate(loaded, validation) << '\n';
  for (const auto& p : net->parameters()) std::cout << std::setprecision(12) << p.sum().item<double>() << ' ' << p.norm().item<double>() << '\n';
}
