// SPDX-License-Identifier: Apache-2.0
//
// A batch cut into slices: the weighted gradients of the slices add up to the gradient of the batch, in float32 and float64, on
// every device and for every size of slice.
#include "test/unit/core_support.hpp"

#include <hvd/autograd.hpp>

#include <gtest/gtest.h>

namespace core_slices_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

nn::Sequential make_net() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(8, 16, 3), nn::Tanh(), nn::Flatten(),
                        nn::Dropout(0.25), nn::Linear(16 * 2 * 2, 10));
}

struct Setting {
  hvd::Device device;
  hvd::Dtype dtype;
};

/// Gradients of the whole batch of 9 samples, from slices of at most `rows` samples one after the other.
std::vector<Tensor> gradients(const Setting& setting, int64_t rows, hvd::Reduction reduction) {
  hvd::set_default_device(setting.device);
  hvd::set_default_dtype(setting.dtype);
  hvd::manual_seed(17);
  nn::Sequential net = make_net();
  const int64_t count = 9;
  const Tensor x = hvd::rand({count, 1, 8, 8}, hvd::kFloat32).to(setting.dtype), y = hvd::randint(0, 10, {count});
  const hvd::Generator::State state = hvd::default_generator().state();
  for (int64_t first = 0; first < count; first += rows) {
    const hvd::Slice slice{count, first, std::min(rows, count - first), false};
    hvd::default_generator().set_state(state);
    hvd::context().current_slice = &slice;
    const Tensor loss = F::cross_entropy(net(x.narrow(0, first, slice.rows)), y.narrow(0, first, slice.rows),
                                         F::CrossEntropyFuncOptions().reduction(reduction));
    hvd::context().current_slice = nullptr;
    const double share = static_cast<double>(slice.rows) / static_cast<double>(count);
    const hvd::autograd::BackwardWeight weight(reduction == hvd::kMean ? share : 1.0);
    loss.backward();
  }
  std::vector<Tensor> out;
  for (const Tensor& p : net->parameters()) out.push_back(p.grad());
  return out;
}

TEST(CoreSlices, WeightedSlicesAddUpToTheBatch) {
  const Defaults defaults;
  for (hvd::Reduction reduction : {hvd::kMean, hvd::kSum}) {
    const std::vector<Tensor> reference = gradients({hvd::kCPU, hvd::kFloat64}, 9, reduction);
    for (hvd::Device device : hvd::available_devices())
      for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64})
        for (int64_t rows : {1, 2, 4, 5, 9}) {
          const std::vector<Tensor> grads = gradients({device, dtype}, rows, reduction);
          for (size_t i = 0; i < grads.size(); ++i) {
            const Tensor wide = grads[i].cpu().to(hvd::kFloat64);
            const double gap = (wide - reference[i]).abs().max().item<double>() / reference[i].abs().max().item<double>();
            EXPECT_LT(gap, dtype == hvd::kFloat32 ? 1e-5 : 1e-13) << device.name() << ' ' << hvd::dtype_name(dtype) << " rows " << rows << " parameter " << i;
          }
        }
  }
}

TEST(CoreSlices, WrongWeightsDoNot) {
  const Defaults defaults;
  const Setting setting{hvd::kCPU, hvd::kFloat64};
  const std::vector<Tensor> whole = gradients(setting, 9, hvd::kMean), summed = gradients(setting, 4, hvd::kSum);
  EXPECT_GT(core_tests::difference(summed[0], whole[0]), 1e-3);
}

}  // namespace
}  // namespace core_slices_test
