// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Schedules of the program's own that the standard library makes: what they are given is scaled once.
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

struct Context {
  long step = 0;
  double lr = 0;
};

struct Hook {
  virtual ~Hook() = default;
  virtual void after_step(Context&) = 0;
};

class Swing : public Hook {
 public:
  Swing(hvd::optim::Optimizer& optimizer, double base) : optimizer_(optimizer), base_(base) {}
  void after_step(Context& c) override {
    c.lr = base_ * (1 + 0.5 * std::sin(0.3 * static_cast<double>(c.step / 3)));
    optimizer_.set_lr(c.lr);
  }

 private:
  hvd::optim::Optimizer& optimizer_;
  double base_;
};

struct Steps {
  Steps(hvd::optim::Optimizer& o, double first, double factor);
  void after_epoch(int epoch) { optimizer.set_lr(start * std::pow(by, epoch)); }
  hvd::optim::Optimizer& optimizer;
  double start, by;
};

Steps::Steps(hvd::optim::Optimizer& o, double first, double factor) : optimizer(o), start(first), by(factor) {}

int main(int argc, char** argv) {
  const std::size_t batch_size = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(2);
  const hvd::Tensor x = hvd::randn({96, 5}), y = x.sum(1, true).tanh();
  hvd::nn::Linear net(5, 1);
  hvd::optim::SGD optimizer(net->parameters(), rate);
  std::vector<std::unique_ptr<Hook>> hooks;
  hooks.push_back(std::make_unique<Swing>(optimizer, rate));
  std::vector<Steps> steps;
  steps.emplace_back(optimizer, rate, 0.5);
  std::optional<Steps> last;
  last.emplace(optimizer, rate, 0.9);
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch_size));
  for (int epoch = 0; epoch < 4; ++epoch) {
    Context c;
    double total = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const hvd::Tensor loss = hvd::nn::functional::mse_loss(net(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      if (epoch < 2)
        for (auto& hook : hooks) hook->after_step(c);
    }
    if (epoch == 2) steps.front().after_epoch(epoch);
    if (epoch == 3) last->after_epoch(epoch);
    std::printf("%d %.9f\n", epoch, total);
  }
}
