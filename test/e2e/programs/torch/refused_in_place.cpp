// SPDX-License-Identifier: Apache-2.0
// e2e: name=refused_in_place_transform; cxx=-DFORM=1; expect=refused:HVD3012
// e2e: name=refused_in_place_get; cxx=-DFORM=2; expect=refused:HVD3012
// e2e: name=in_place_on_a_copy; cxx=-DFORM=3; scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// A data set whose rows are changed where they are kept: each pass changes them once more, and a rank those that it reads. On copies it is right.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
#if FORM == 2
    auto row = x[at];
    row.mul_(0.9);
    return {row, y[at]};
#elif FORM == 3
    return {x[at].clone(), y[at]};
#else
    return {x[at], y[at]};
#endif
  }
  torch::optional<size_t> size() const override { return 50; }
  torch::Tensor x = torch::sin(torch::arange(200, torch::kDouble)).view({50, 4}), y = torch::arange(50).remainder(3);
};

struct Centre : torch::data::transforms::TensorTransform<> {
  torch::Tensor operator()(torch::Tensor input) override { return FORM == 2 ? input : input.sub_(0.1).div_(0.8); }
};

int main(int argc, char** argv) {
  const int64_t batchSize = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  auto loader = torch::data::make_data_loader(Rows().map(Centre()).map(torch::data::transforms::Stack<>()), batchSize);
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      std::cout << std::setprecision(12) << loss.item<double>() << '\n';
    }
  torch::save(net, "net.pt");
}
