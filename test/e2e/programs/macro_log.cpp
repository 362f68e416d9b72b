// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.05*N}
// Output through macros, whose arguments hold numbers of the batch; batches by iterators; a function that fills its arguments, for
// training and for evaluation.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#define INFO(...) std::printf("info: " __VA_ARGS__)
#define SHOW(name, value) std::cout << (name) << " = " << (value) << " (" #name ")\n"
#define TWICE(x) (std::printf("%.9f ", (x)), std::printf("%.9f\n", (x)))

static void rows_of(const hvd::Tensor& x, const hvd::Tensor& y, const hvd::Tensor& order, int64_t first, int64_t last, hvd::Tensor& xb, hvd::Tensor& yb) {
  const hvd::Tensor index = order.slice(0, first, last);
  xb = x.index_select(0, index);
  yb = y.index_select(0, index);
}

template <typename Loader>
double by_iterators(Loader& loader, hvd::nn::Sequential& net, hvd::optim::Optimizer& optimizer) {
  double worst = 0;
  for (auto batch = loader.begin(), end = loader.end(); batch != end; ++batch) {
    optimizer.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net->forward((*batch).data), batch->target);
    loss.backward();
    optimizer.step();
    TWICE(loss.template item<double>());
    if (loss.template item<double>() > worst) worst = loss.template item<double>();
  }
  return worst;
}

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  const int64_t n = 53;
  const hvd::Tensor x = hvd::randn({n, 4}), y = (x.sum(1, true) * 0.5).tanh();
  const hvd::Tensor test_x = hvd::randn({11, 4}), test_y = (test_x.sum(1, true) * 0.5).tanh();
  hvd::nn::Sequential net(hvd::nn::Linear(4, 8), hvd::nn::Tanh(), hvd::nn::Linear(8, 1));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.5));

  for (int epoch = 0; epoch < 3; ++epoch) {
    const hvd::Tensor order = hvd::randperm(n);
    for (int64_t i = 0; i < n; i += batch_size) {
      hvd::Tensor xb, yb;
      rows_of(x, y, order, i, std::min(i + batch_size, n), xb, yb);
      optimizer.zero_grad();
      hvd::Tensor loss = hvd::nn::functional::mse_loss(net->forward(xb), yb);
      loss.backward();
      optimizer.step();
      if (i == 0) INFO("epoch %d first loss %.9f of %d rows\n", epoch, loss.item<double>(), (int)xb.size(0));
      else
        SHOW("loss", loss.item<double>());
    }
    hvd::NoGradGuard no_grad;
    double total = 0;
    const hvd::Tensor in_order = hvd::arange(11);
    for (int64_t i = 0; i < 11; i += 4) {
      hvd::Tensor xb, yb;
      rows_of(test_x, test_y, in_order, i, std::min<int64_t>(i + 4, 11), xb, yb);
      total += hvd::nn::functional::mse_loss(net->forward(xb), yb).item<double>() * static_cast<double>(xb.size(0));
    }
    SHOW("test", total / 11);
  }

  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                      hvd::data::DataLoaderOptions(batch_size));
  const double worst = by_iterators(*loader, net, optimizer);
  SHOW("worst", worst);
  hvd::save(net, "net.safetensors");
}
