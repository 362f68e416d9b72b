// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={12*N} {0.05*sqrt(N)}
// e2e: name=mixed_precision_float32; scaled={12*N} {0.05*sqrt(N)} float32; tolerance=0.05
// Loss scaling: one sample makes the scaled gradient overflow wherever it is, on one rank, and all ranks leave the step out and lower the
// scale. In float64 autocast changes nothing, and the comparison is exact; in float32 products run in bfloat16.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace F = hvd::nn::functional;

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 12;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const bool wide = argc <= 3 || std::string(argv[3]) != "float32";
  if (wide) hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(17);
  const int64_t n = 54;
  const hvd::Tensor x = hvd::randn({n, 6}), y = hvd::randn({n, 3});
  x[23][2].fill_(wide ? 1e150 : 1e17);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Sequential net(hvd::nn::Linear(6, 10), hvd::nn::ReLU(), hvd::nn::Linear(10, 3));
  hvd::optim::Adam optimizer(net->parameters(), hvd::optim::AdamOptions(rate));
  hvd::amp::GradScaler scaler(hvd::amp::GradScalerOptions().init_scale(wide ? 0x1p60 : 0x1p40).growth_interval(3));

  for (int epoch = 0; epoch < 4; ++epoch) {
    int taken = 0, left_out = 0;
    double total = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      hvd::Tensor loss;
      {
        const hvd::amp::AutocastGuard autocast(hvd::kBFloat16);
        loss = F::mse_loss(net->forward(batch.data), batch.target);
      }
      scaler.scale(loss).backward();
      scaler.unscale_(optimizer);
      hvd::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      if (scaler.step(optimizer)) {
        ++taken;
        total += loss.item<double>();
      } else {
        ++left_out;
      }
      scaler.update();
    }
    std::printf("epoch %d: %d steps, %d left out, loss %.6f, scale %g\n", epoch, taken, left_out, total / taken, scaler.get_scale());
  }
  hvd::save(net, "net.safetensors");
}
