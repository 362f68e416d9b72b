// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Samplers of the program's own that a loader gets by a pointer: the program changes what they draw between the passes.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace F = hvd::nn::functional;

class FromBehind : public hvd::data::samplers::Sampler {
 public:
  explicit FromBehind(std::size_t size) : size_(size), stride(1) {}
  void reset() override { at_ = 0; }
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    if (at_ >= size_) return std::nullopt;
    std::vector<std::size_t> out;
    for (; at_ < size_ && out.size() < batch_size; ++at_) out.push_back(at_ * stride % size_);
    return out;
  }
  std::size_t size() const override { return size_; }

 private:
  std::size_t size_, at_ = 0;

 public:
  std::size_t stride;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::manual_seed(7);
  const hvd::data::datasets::TensorDataset rows(hvd::randn({50, 4}), hvd::randint(3, {50}));
  auto sampler = std::make_shared<FromBehind>(50);
  auto loader = hvd::data::make_data_loader(rows, sampler, hvd::data::DataLoaderOptions(batch_size));
  auto once = hvd::data::make_data_loader(rows, std::make_unique<FromBehind>(50), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : *loader) {
      auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%.10f\n", loss.item<double>());
    }
    sampler->stride = 7;
  }
  for (auto& batch : *once) {
    auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  hvd::save(net, "net.safetensors");
}
