// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={12*N} {0.05*N}; edit=set_lr(0.01) => set_lr({0.01*N}); hvdize=--assume=local-batch-norm; exclude=running_var
// What batch norm has collected in training is used by an evaluation, read, and saved; each time after further training, so that ranks
// that do not meet before it have different numbers. Running means of even slices are exact; running variances are not, and so a large eps
// keeps them out of what is evaluated. A learning rate is set anew.
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;

constexpr double kEps = 1e12;

struct NetImpl : hvd::nn::Module {
  NetImpl() {
    statistics = register_module("statistics", hvd::nn::BatchNorm2d(hvd::nn::BatchNorm2dOptions(2).momentum(0.3).eps(kEps).affine(false)));
    linear = register_module("linear", hvd::nn::Linear(8, 1));
  }
  // In training the layer only watches its input.
  hvd::Tensor forward(const hvd::Tensor& x) {
    const hvd::Tensor centred = statistics->forward(x.detach());
    const hvd::Tensor out = linear->forward(x.flatten(1));
    return is_training() ? out : out + centred.flatten(1).sum(1, true) * std::sqrt(kEps);
  }
  hvd::nn::BatchNorm2d statistics{nullptr};
  hvd::nn::Linear linear{nullptr};
};
HVD_MODULE(Net);

template <class Loader>
void train(Net& net, Loader& loader, hvd::optim::SGD& optimizer) {
  net->train();
  for (auto& batch : loader) {
    optimizer.zero_grad();
    F::mse_loss(net->forward(batch.data), batch.target).backward();
    optimizer.step();
  }
}

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 12;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(11);
  const int64_t n = 60;  // any number of ranks up to 4 shares the batches evenly
  const hvd::Tensor x = hvd::randn({n, 2, 2, 2}), y = x.flatten(1).sum(1, true).tanh();
  Net net;
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                         hvd::data::DataLoaderOptions(batch_size));
  train(net, *loader, optimizer);
  net->eval();
  double error = 0;
  {
    hvd::NoGradGuard no_grad;
    error = F::mse_loss(net->forward(x), y).item<double>();
  }
  std::printf("evaluated: %.9f\n", error);

  train(net, *loader, optimizer);
  std::printf("means: %.9f %.9f\n", net->statistics->running_mean[0].item<double>(), net->statistics->running_mean[1].item<double>());

  optimizer.set_lr(0.01);
  train(net, *loader, optimizer);
  net->train(false);
  {
    hvd::NoGradGuard no_grad;
    error = F::mse_loss(net->forward(x), y).item<double>();
  }
  std::printf("evaluated: %.9f\n", error);

  train(net, *loader, optimizer);
  hvd::save(net, "net.safetensors");
}
