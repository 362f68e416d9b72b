// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=60
// Options that are set in statements of their own: on a variable, by a function, in a constructor.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>

namespace F = hvd::nn::functional;

static void choose(F::CrossEntropyFuncOptions& options) { options.ignore_index(1); }

class Criterion {
 public:
  Criterion() { options_.reduction(hvd::kNone); }
  hvd::Tensor operator()(const hvd::Tensor& out, const hvd::Tensor& target) const { return F::mse_loss(out, target, options_); }

 private:
  F::MSELossFuncOptions options_;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.02;
  hvd::manual_seed(5);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randint(3, {50})), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  F::CrossEntropyFuncOptions counted;
  choose(counted);
  const Criterion criterion;
  for (auto& batch : *loader) {
    auto options = F::CrossEntropyFuncOptions();
    options.label_smoothing(0.1);
    const auto out = net->forward(batch.data);
    auto smooth = F::cross_entropy(out, batch.target, options);
    auto some = F::cross_entropy(out, batch.target, counted);
    auto squares = criterion(out, batch.data.slice(1, 0, 3)).sum(1).mean();
    auto loss = smooth + some + squares;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%.10f %.10f %.10f\n", smooth.item<double>(), some.item<double>(), squares.item<double>());
  }
  F::MSELossFuncOptions summed;
  summed.reduction(hvd::kSum);
  hvd::nn::Linear other(4, 3);
  hvd::optim::SGD slow(other->parameters(), hvd::optim::SGDOptions(rate));
  for (auto& batch : *loader) {
    auto loss = F::mse_loss(other->forward(batch.data), batch.data.slice(1, 1, 4), summed) / batch.data.size(0);
    slow.zero_grad();
    loss.backward();
    slow.step();
    std::printf("%.10f\n", loss.item<double>());
  }
  hvd::save(net, "net.safetensors");
  hvd::save(other, "other.safetensors");
}
