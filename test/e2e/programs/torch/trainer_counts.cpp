// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Batch sizes that a class or a loader is given, and that the function which makes it counts with as well.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 45; }
  torch::Tensor x = torch::sin(torch::arange(45 * 5, torch::kDouble) * 0.37).view({45, 5}), y = x.sum(1, true).tanh();
};

class Trainer {
 public:
  Trainer(torch::nn::Linear net, int64_t batch, double rate, int64_t total) : net_(net), batch_(batch), rate_(rate), total_(total), optimizer_(net->parameters(), rate) {}
  double run() {
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), batch_);
    double sum = 0;
    while (step_ < total_)
      for (auto& batch : *loader) {
        const double left = 1 - static_cast<double>(step_) / static_cast<double>(total_);
        static_cast<torch::optim::SGDOptions&>(optimizer_.param_groups()[0].options()).lr(rate_ * left);
        optimizer_.zero_grad();
        const torch::Tensor loss = torch::mse_loss(net_->forward(batch.data), batch.target);
        loss.backward();
        optimizer_.step();
        sum += loss.item<double>();
        if (++step_ == total_) break;
      }
    return sum;
  }

 private:
  torch::nn::Linear net_;
  int64_t batch_;
  double rate_;
  int64_t total_, step_ = 0;
  torch::optim::SGD optimizer_;
};

struct Config {
  int64_t batch = 8;
};

static int64_t steps_of(int64_t rows, int64_t size) { return (rows + size - 1) / size; }

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::nn::Linear net(5, 1), other(5, 1), third(5, 1);
// form: a batch size kept in a class, and counted with where the object is made
  Trainer first(net, batch, rate, 2 * ((45 + batch - 1) / batch));
  std::printf("%.9f\n", first.run());
// form: a batch size handed on by make_unique, and counted with there
  Config config;
  config.batch = batch;
  auto second = std::make_unique<Trainer>(other, config.batch, rate, steps_of(45, config.batch));
  std::printf("%.9f\n", second->run());
// form: a batch size that is clamped where the loader is made, and counted with
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), std::min<int64_t>(batch, 40));
  torch::optim::SGD optimizer(third->parameters(), torch::optim::SGDOptions(rate));
  const int64_t total = 3 * steps_of(45, batch);
  int64_t step = 0;
  while (step < total)
    for (auto& rows : *loader) {
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(third->forward(rows.data), rows.target);
      loss.backward();
      optimizer.step();
      if (++step == total) break;
    }
  std::printf("%lld of %lld\n", static_cast<long long>(step), static_cast<long long>(total));
}
