// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Tensors that live on from step to step hold the numbers of whole batches: the last batch, a short one, says nothing about the weights of those
// before it. In a static variable, a class, a lambda with a state, and in a variable that the next step compares with.
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;

class Average {
 public:
  void update(const hvd::Tensor& value) {
    if (!value_.defined()) value_ = value.clone();
    else value_.mul_(0.9).add_(value * 0.1);
  }
  double value() const { return value_.item<double>(); }

 private:
  hvd::Tensor value_;
};

static double track(const hvd::Tensor& loss) {
  static hvd::Tensor average;
  average = average.defined() ? 0.8 * average + 0.2 * loss : loss.clone();
  return average.item<double>();
}

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::manual_seed(3);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  Average average;
  hvd::Tensor last;
  auto running = [state = hvd::Tensor()](const hvd::Tensor& loss) mutable {
    state = state.defined() ? 0.5 * state + 0.5 * loss : loss.clone();
    return state.item<double>();
  };
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      auto loss = F::mse_loss(net->forward(batch.data), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const auto value = loss.detach();
      static hvd::Tensor decayed;
      decayed = decayed.defined() ? 0.9 * decayed + 0.1 * value : value.clone();
      average.update(value);
      if (last.defined()) optimizer.set_lr(optimizer.lr() * (1 - 0.2 * std::tanh((value - last).item<double>())));
      last = value;
      const double shown = running(value);
      std::printf("%.10f %.10f %.10f %.10f\n", decayed.item<double>(), average.value(), track(value), shown);
    }
  hvd::save(net, "net.safetensors");
}
