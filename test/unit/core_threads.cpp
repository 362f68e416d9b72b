// SPDX-License-Identifier: Apache-2.0
//
// The default device of the host: results do not depend on its threads, and its float32 kernels keep to what NaN, infinities and equal values
// mean on the reference device.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace core_threads_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

struct Threads {
  int before = hvd::num_threads();
  ~Threads() { hvd::set_num_threads(before); }
};

/// Results and gradients of what runs on threads of its own, large enough to be shared out and of no round size.
std::vector<Tensor> results() {
  hvd::manual_seed(5);
  std::vector<Tensor> out;
  const auto keep = [&](const Tensor& y, std::vector<Tensor> inputs) {
    for (const Tensor& t : inputs) t.mutable_grad() = Tensor();
    y.backward(hvd::randn(y.sizes()));
    out.push_back(y.detach());
    for (const Tensor& t : inputs) out.push_back(t.grad());
  };
  const Tensor x = hvd::randn({515, 301}).requires_grad_(), z = hvd::randn({515, 301}).requires_grad_();
  const Tensor w = hvd::randn({301}).requires_grad_(), b = hvd::randn({301}).requires_grad_();
  keep(x.relu() + z * x, {x, z});
  keep(F::gelu(x), {x});
  keep(F::dropout(x, 0.3, true), {x});
  keep(x.softmax(1), {x});
  keep(F::layer_norm(x, {301}, w, b), {x, w, b});
  keep(x + b, {x, b});
  const Tensor left = hvd::randn({67, 33, 65}).requires_grad_(), right = hvd::randn({67, 65, 31}).requires_grad_();
  keep(left.bmm(right), {left, right});
  const Tensor images = hvd::randn({5, 19, 46, 46}).requires_grad_();
  const nn::BatchNorm2d norm(19);
  keep(norm->forward(images), {images, norm->weight, norm->bias});
  keep(F::max_pool2d(images, nn::MaxPool2dOptions(2)), {images});
  keep(F::max_pool2d(images, nn::MaxPool2dOptions(3).stride(2)), {images});
  hvd::optim::SGD sgd({x}, hvd::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
  hvd::optim::AdamW adam({z}, hvd::optim::AdamWOptions(0.1));
  x.mutable_grad() = hvd::randn({515, 301});
  z.mutable_grad() = hvd::randn({515, 301});
  for (int i = 0; i < 3; ++i) {
    sgd.step();
    adam.step();
  }
  out.push_back(x.detach());
  out.push_back(z.detach());
  return out;
}

TEST(CoreThreads, NoResultDependsOnTheirNumber) {
  const Threads threads;
  hvd::set_num_threads(1);
  const std::vector<Tensor> one = results();
  for (const int count : {2, 3}) {
    hvd::set_num_threads(count);
    const std::vector<Tensor> many = results();
    ASSERT_EQ(one.size(), many.size());
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(hvd::equal(one[i], many[i])) << "result " << i << " with " << count << " threads";
  }
}

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

void expect_alike(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.numel(), b.numel());
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float p = x.data_ptr<float>()[i], q = y.data_ptr<float>()[i];
    if (std::isnan(q) || std::isinf(q))
      EXPECT_TRUE(std::isnan(q) ? std::isnan(p) : p == q) << "element " << i << ": " << p << ", reference " << q;
    else
      EXPECT_NEAR(p, q, tolerance) << "element " << i;
  }
}

TEST(CoreThreads, ActivationsOfExtremeNumbers) {
  for (const hvd::Device device : hvd::available_devices()) {
    const Tensor x = hvd::tensor(std::vector<float>{-1e30f, -1e6f, -100, -13, -5.7f, -5.6f, -0.0f, 1e-30f, 5.6f, 14, 1e6f, 1e30f, kNan, 1, 2, -3, 4});
    const Tensor reference = x.to(hvd::Device("cpu")), here = x.to(device);
    expect_alike(F::gelu(here), F::gelu(reference), 1e-6);
    expect_alike(here.relu(), reference.relu(), 0);
    const Tensor a = here.clone().requires_grad_(), b = reference.clone().requires_grad_();
    F::gelu(a).sum().backward();
    F::gelu(b).sum().backward();
    expect_alike(a.grad(), b.grad(), 1e-6);
  }
}

// What a mask hides has the weight 0, exactly; a row that is all hidden has none that is a number.
// A few rows times a layer's weights whose rows collide in the cache take a way of their own; whole numbers leave no rounding to allow for.
TEST(CoreThreads, FewRowsTimesLongRows) {
  const auto whole = [](std::vector<int64_t> shape) { return hvd::randint(-3, 4, shape, hvd::TensorOptions(hvd::kFloat32)); };
  const hvd::Device host("cpu");
  for (const auto& [rows, outputs, inputs] : {std::array<int64_t, 3>{16, 40, 2048}, {33, 97, 512}, {64, 130, 512}, {128, 256, 1024}, {15, 300, 512}, {31, 90, 784}}) {
    const Tensor x = whole({rows, inputs}), w = whole({outputs, inputs});
    const Tensor bias = whole({outputs}), expected = F::linear(x.to(host), w.to(host), bias.to(host));
    for (const hvd::Device device : hvd::available_devices())
      EXPECT_TRUE(hvd::equal(F::linear(x.to(device), w.to(device), bias.to(device)).to(host), expected))
          << rows << " rows, " << inputs << " inputs, " << outputs << " outputs on " << device.name();
  }
}

TEST(CoreThreads, SoftmaxOfMaskedRows) {
  for (const hvd::Device device : hvd::available_devices()) {
    std::vector<float> values;
    for (int i = 0; i < 11; ++i) values.push_back(i % 3 == 0 ? -kInfinity : 0.1f * static_cast<float>(i));
    for (int i = 0; i < 11; ++i) values.push_back(-kInfinity);
    for (int i = 0; i < 11; ++i) values.push_back(i == 7 ? 90.0f : -90.0f * static_cast<float>(i));
    const Tensor x = hvd::tensor(values).view({3, 11});
    const Tensor y = x.to(device).softmax(1), reference = x.to(hvd::Device("cpu")).softmax(1);
    expect_alike(y, reference, 1e-7);
    for (int i = 0; i < 11; i += 3) EXPECT_EQ(y.cpu().data_ptr<float>()[i], 0.0f);
    EXPECT_TRUE(std::isnan(y.cpu().data_ptr<float>()[11]));
  }
}

// The first of equal values takes the gradient, as does the first NaN.
TEST(CoreThreads, MaxPoolingOfEqualValuesAndNan) {
  const std::vector<float> kinds = {0, 1, 1, 0, kNan, -kInfinity, 2, kNan, 0, 0, kInfinity};
  std::vector<float> values;
  for (size_t i = 0; i < 2 * 3 * 9 * 38; ++i) values.push_back(kinds[i * i * 7 % 11]);
  const Tensor x = hvd::tensor(values).view({2, 3, 9, 38});
  for (const hvd::Device device : hvd::available_devices())
    for (const int64_t stride : {2, 1}) {
      const Tensor a = x.to(device).clone().requires_grad_(), b = x.to(hvd::Device("cpu")).clone().requires_grad_();
      const Tensor y = F::max_pool2d(a, nn::MaxPool2dOptions(2).stride(stride)), reference = F::max_pool2d(b, nn::MaxPool2dOptions(2).stride(stride));
      expect_alike(y, reference, 0);
      hvd::manual_seed(1);
      const Tensor g = hvd::randn(reference.sizes());
      y.backward(g.to(device));
      reference.backward(g.to(hvd::Device("cpu")));
      expect_alike(a.grad(), b.grad(), 1e-6);
    }
}

// Convolutions are made once for a shape and number of threads: another shape, another number in between changes nothing.
TEST(CoreThreads, ConvolutionsOfManyShapesInTurn) {
  const Threads threads;
  const auto convolve = [](int64_t batch, int64_t channels, int64_t stride, bool bias) {
    hvd::manual_seed(3);
    const Tensor x = hvd::randn({batch, channels, 9, 8}).requires_grad_(), w = hvd::randn({6, channels, 3, 3}).requires_grad_();
    const Tensor y = F::conv2d(x, w, bias ? hvd::randn({6}) : Tensor(), {stride}, {1}, {1}, 1);
    y.backward(hvd::randn(y.sizes()));
    return std::vector<Tensor>{y.detach(), x.grad(), w.grad()};
  };
  hvd::set_num_threads(1);
  const std::vector<Tensor> first = convolve(3, 4, 1, true);
  for (int64_t batch = 1; batch <= 90; ++batch) {
    hvd::set_num_threads(static_cast<int>(1 + batch % 2));
    convolve(batch, 1 + batch % 3, 1 + batch % 2, batch % 2 == 0);
  }
  hvd::set_num_threads(1);
  const std::vector<Tensor> again = convolve(3, 4, 1, true);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(hvd::equal(first[i], again[i])) << "result " << i;
}

// Threads that load batches work side by side: a loop of one of them does not take the cores of the others.
TEST(CoreThreads, ThoseOfALoaderStayAlone) {
  namespace data = hvd::data;
  const auto images = std::make_shared<data::datasets::SyntheticImages>(12, std::vector<int64_t>{1, 2, 2}, 10, 1);
  const auto told = data::map(images, [](data::Example example) {
    return data::Example{example.data, hvd::tensor(hvd::Scalar(static_cast<int64_t>(hvd::context().one_thread ? 1 : 0)))};
  });
  const auto loader = data::make_data_loader<data::SequentialSampler>(std::make_shared<data::datasets::Mapped>(told),
                                                                     data::DataLoaderOptions().batch_size(4).workers(2));
  int64_t alone = 0;
  for (auto& batch : *loader) alone += batch.target.sum().item<int64_t>();
  EXPECT_EQ(alone, 12);
  EXPECT_FALSE(hvd::context().one_thread);
}

}  // namespace
}  // namespace core_threads_test
