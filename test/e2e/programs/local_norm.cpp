// SPDX-License-Identifier: Apache-2.0
// e2e: name=local_norm_loader; cxx=-DFORM=1; modes=global; ranks=1,3; expect=different; warns=HVD2004
// e2e: name=local_norm_iterators; cxx=-DFORM=2; modes=global; ranks=1,3; expect=different; warns=HVD2004
// e2e: name=local_norm_rows; cxx=-DFORM=3; modes=global; ranks=1,3; expect=different; warns=HVD2004
// Shows that ranks share the work: batch norm over this rank's rows only gives other numbers than over the whole batch, which it
// would see if every rank still took all of it.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(31);
  const int64_t n = 36, batch_size = 12;
  const hvd::Tensor x = hvd::randn({n, 2, 4, 4}), y = hvd::randint(0, 3, {n});
  hvd::nn::Sequential net(hvd::nn::Conv2d(hvd::nn::Conv2dOptions(2, 4, 3).bias(false)), hvd::nn::BatchNorm2d(4), hvd::nn::ReLU(), hvd::nn::Flatten(),
                          hvd::nn::Linear(16, 3));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                          hvd::data::DataLoaderOptions(batch_size));
  (void)loader;
  for (int epoch = 0; epoch < 2; ++epoch) {
#if FORM == 1
    for (auto& batch : *loader) {
      const hvd::Tensor xb = batch.data, yb = batch.target;
#elif FORM == 2
    for (auto it = loader->begin(); it != loader->end(); ++it) {
      const hvd::Tensor xb = it->data, yb = it->target;
#else
    for (int64_t i = 0; i < n; i += batch_size) {
      const hvd::Tensor xb = x.slice(0, i, std::min(i + batch_size, n)), yb = y.slice(0, i, std::min(i + batch_size, n));
#endif
      optimizer.zero_grad();
      hvd::Tensor loss = hvd::nn::functional::cross_entropy(net->forward(xb), yb);
      loss.backward();
      optimizer.step();
      std::printf("loss %.9f\n", loss.item<double>());
    }
  }
  hvd::save(net, "net.safetensors");
}
