// SPDX-License-Identifier: Apache-2.0
//
// Every differentiable operation: gradients by finite differences, and every device against the float64 reference.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

namespace core_operations_test {
namespace {

using core_tests::Defaults;
using core_tests::Operation;
using hvd::Tensor;
using Inputs = std::vector<Tensor>;
namespace F = hvd::nn::functional;

Tensor targets(const Tensor& like, std::vector<int64_t> values) { return hvd::tensor(values, hvd::TensorOptions(hvd::kInt64).device(like.device())); }

std::vector<Operation> elementwise() {
  return {
      {"add", {{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] + x[1]; }},
      {"add_broadcast", {{3, 4}, {4}}, [](const Inputs& x) { return x[0] + x[1]; }},
      {"sub_broadcast", {{2, 3, 4}, {3, 1}}, [](const Inputs& x) { return x[0] - x[1]; }},
      {"mul", {{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] * x[1]; }},
      {"mul_broadcast", {{3, 1}, {1, 4}}, [](const Inputs& x) { return x[0] * x[1]; }},
      {"mul_by_0d", {{3, 4}, {}}, [](const Inputs& x) { return x[0] * x[1]; }},
      {"mul_itself", {{5}}, [](const Inputs& x) { return x[0] * x[0]; }},
      {"div", {{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] / x[1]; }, 0.5, 2},
      {"div_broadcast", {{4}, {3, 4}}, [](const Inputs& x) { return x[0] / x[1]; }, 0.5, 2},
      {"numbers", {{3, 4}}, [](const Inputs& x) { return (2 - x[0] * 3) / 4 + 1 - 0.5; }},
      {"number_over", {{6}}, [](const Inputs& x) { return 2.0 / x[0]; }, 0.5, 2},
      {"neg", {{6}}, [](const Inputs& x) { return -x[0]; }},
      {"square", {{6}}, [](const Inputs& x) { return x[0].square(); }},
      {"pow", {{6}}, [](const Inputs& x) { return x[0].pow(2.5); }, 0.5, 2},
      {"sqrt", {{6}}, [](const Inputs& x) { return x[0].sqrt(); }, 0.5, 2},
      {"exp", {{6}}, [](const Inputs& x) { return x[0].exp(); }},
      {"log", {{6}}, [](const Inputs& x) { return x[0].log(); }, 0.5, 2},
      {"abs", {{6}}, [](const Inputs& x) { return x[0].abs(); }},
      {"tanh", {{6}}, [](const Inputs& x) { return x[0].tanh(); }},
      {"sigmoid", {{6}}, [](const Inputs& x) { return x[0].sigmoid(); }},
      {"relu", {{4, 5}}, [](const Inputs& x) { return x[0].relu(); }},
      {"clamp", {{20}}, [](const Inputs& x) { return x[0].clamp(-0.5, 0.25); }},
      {"transposed_operand", {{3, 4}, {4, 3}}, [](const Inputs& x) { return x[0].t() * x[1] + x[0].t().relu(); }},
  };
}

std::vector<Operation> shapes_and_sums() {
  return {
      {"sum", {{3, 4}}, [](const Inputs& x) { return x[0].sum(); }},
      {"sum_dim", {{3, 4, 2}}, [](const Inputs& x) { return x[0].sum(1); }},
      {"sum_apart", {{3, 4, 2}}, [](const Inputs& x) { return x[0].sum({0, 2}, true); }},
      {"mean", {{3, 4}}, [](const Inputs& x) { return x[0].mean(); }},
      {"mean_last", {{3, 4}}, [](const Inputs& x) { return x[0].mean(-1); }},
      {"max", {{3, 4}}, [](const Inputs& x) { return x[0].max(); }},
      {"max_dim", {{3, 4, 2}}, [](const Inputs& x) { return x[0].max(1).first; }},
      {"min_keep", {{3, 4}}, [](const Inputs& x) { return x[0].min(1, true).first; }},
      {"norm", {{3, 4}}, [](const Inputs& x) { return x[0].norm(); }},
      {"view", {{3, 4}}, [](const Inputs& x) { return x[0].view({2, -1}); }},
      {"reshape_copy", {{3, 4}}, [](const Inputs& x) { return x[0].t().reshape({12}); }},
      {"flatten", {{2, 3, 4}}, [](const Inputs& x) { return x[0].flatten(1); }},
      {"permute", {{2, 3, 4}}, [](const Inputs& x) { return x[0].permute({2, 0, 1}); }},
      {"squeeze", {{3, 1, 4}}, [](const Inputs& x) { return x[0].squeeze(1).unsqueeze(0); }},
      {"expand", {{3, 1}}, [](const Inputs& x) { return x[0].expand({2, 3, 4}); }},
      {"narrow", {{5, 3}}, [](const Inputs& x) { return x[0].narrow(0, 1, 3); }},
      {"select", {{5, 3}}, [](const Inputs& x) { return x[0][2] + x[0].select(0, -1); }},
      {"cat", {{2, 3}, {2, 2}}, [](const Inputs& x) { return hvd::cat({x[0], x[1], x[0]}, 1); }},
      {"stack", {{2, 3}, {2, 3}}, [](const Inputs& x) { return hvd::stack({x[0], x[1]}, 1); }},
      {"index_select", {{4, 3}}, [](const Inputs& x) { return x[0].index_select(0, targets(x[0], {3, 0, 3})); }},
      {"gather", {{2, 3}}, [](const Inputs& x) { return x[0].gather(1, targets(x[0], {2, 0, 1, 1}).view({2, 2})); }},
      {"to_and_back", {{4}}, [](const Inputs& x) { return x[0].to(hvd::kFloat64).to(x[0].dtype()); }},
      {"in_place", {{4}, {4}},
       [](const Inputs& x) {
         Tensor y = x[0] * 2;
         y += x[1];
         y *= x[1];
         y -= 0.5;
         y /= 3;
         return y;
       }},
      {"copy_", {{4}},
       [](const Inputs& x) {
         Tensor y = hvd::zeros({2, 4}, x[0].options());
         y.copy_(x[0]);
         return y * x[0];
       }},
      {"accumulate", {{4}},
       [](const Inputs& x) {
         Tensor total = hvd::zeros({}, x[0].options());
         for (int i = 0; i < 3; ++i) total += (x[0] * (i + 1)).square().sum();
         return total;
       }},
  };
}

std::vector<Operation> products_and_losses() {
  const auto options = [] { return F::CrossEntropyFuncOptions(); };
  return {
      {"mm", {{3, 4}, {4, 5}}, [](const Inputs& x) { return x[0].mm(x[1]); }},
      {"mm_transposed", {{4, 3}, {5, 4}}, [](const Inputs& x) { return x[0].t().mm(x[1].t()); }},
      {"mm_strided", {{6, 4}, {4, 6}}, [](const Inputs& x) { return x[0].narrow(1, 1, 2).mm(x[1].narrow(0, 0, 2)); }},
      {"matmul_vectors", {{4}, {4, 3}}, [](const Inputs& x) { return x[0].matmul(x[1]) * x[0].matmul(x[0]); }},
      {"linear", {{5, 4}, {3, 4}, {3}}, [](const Inputs& x) { return F::linear(x[0], x[1], x[2]); }},
      {"linear_3d", {{2, 5, 4}, {3, 4}}, [](const Inputs& x) { return F::linear(x[0], x[1]); }},
      {"softmax", {{3, 4}}, [](const Inputs& x) { return x[0].softmax(1); }},
      {"softmax_first", {{3, 4}}, [](const Inputs& x) { return x[0].softmax(0); }},
      {"log_softmax", {{3, 4}}, [](const Inputs& x) { return x[0].log_softmax(-1); }},
      {"cross_entropy", {{4, 3}}, [](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], {0, 2, 1, 1})); }},
      {"cross_entropy_sum", {{4, 3}},
       [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], {0, 2, 1, 1}), options().reduction(hvd::kSum)); }},
      {"cross_entropy_each", {{4, 3}},
       [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], {0, 2, 1, 1}), options().reduction(hvd::kNone)); }},
      {"cross_entropy_weighted", {{4, 3}},
       [=](const Inputs& x) {
         const Tensor w = hvd::tensor({0.5, 2.0, 1.0}, x[0].options());
         return F::cross_entropy(x[0], targets(x[0], {0, 2, 7, 1}), options().weight(w).ignore_index(7));
       }},
      {"nll_loss", {{4, 3}},
       [=](const Inputs& x) {
         const Tensor w = hvd::tensor({0.5, 2.0, 1.0}, x[0].options());
         return F::nll_loss(x[0].log_softmax(1), targets(x[0], {0, 2, 7, 1}), F::NLLLossFuncOptions().weight(w).ignore_index(7));
       }},
      {"mse_loss", {{4, 3}, {4, 3}}, [](const Inputs& x) { return F::mse_loss(x[0], x[1]); }},
      {"mse_loss_sum", {{4, 3}, {4, 3}}, [](const Inputs& x) { return F::mse_loss(x[0], x[1], hvd::kSum); }},
      {"dropout", {{5, 7}}, [](const Inputs& x) { return F::dropout(x[0], 0.4, true); }},
  };
}

Tensor batch_norm(const Inputs& x, bool training) {
  hvd::nn::BatchNorm2d layer(x[0].size(1));
  layer->to(x[0].dtype());
  layer->to(x[0].device());
  {
    const hvd::NoGradGuard no_grad;
    layer->running_mean.fill_(0.25);
    layer->running_var.fill_(1.5);
  }
  layer->weight = x[1];
  layer->bias = x[2];
  layer->train(training);
  return layer->forward(x[0]);
}

std::vector<Operation> images() {
  return {
      {"conv2d", {{2, 3, 6, 5}, {4, 3, 3, 3}, {4}}, [](const Inputs& x) { return F::conv2d(x[0], x[1], x[2], {1, 1}, {1, 1}); }},
      {"conv2d_stride", {{2, 2, 7, 8}, {3, 2, 3, 2}}, [](const Inputs& x) { return F::conv2d(x[0], x[1], {}, {2, 3}, {0, 1}); }},
      {"conv2d_one_channel", {{3, 1, 8, 8}, {5, 1, 3, 3}, {5}}, [](const Inputs& x) { return F::conv2d(x[0], x[1], x[2], {1}, {0}); }},
      {"conv2d_wide", {{1, 16, 5, 5}, {16, 16, 3, 3}}, [](const Inputs& x) { return F::conv2d(x[0], x[1], {}, {1}, {1}); }},
      {"conv2d_pad_beyond", {{2, 2, 3, 3}, {2, 2, 2, 2}}, [](const Inputs& x) { return F::conv2d(x[0], x[1], {}, {3}, {2}); }},
      {"max_pool2d", {{2, 3, 6, 7}}, [](const Inputs& x) { return F::max_pool2d(x[0], 2); }},
      {"max_pool2d_overlap", {{2, 2, 6, 7}}, [](const Inputs& x) { return F::max_pool2d(x[0], F::MaxPool2dFuncOptions(3).stride(2).padding(1)); }},
      {"batch_norm", {{4, 3, 3, 2}, {3}, {3}}, [](const Inputs& x) { return batch_norm(x, true); }},
      {"batch_norm_eval", {{4, 3, 3, 2}, {3}, {3}}, [](const Inputs& x) { return batch_norm(x, false); }},
  };
}

std::vector<Operation> all_operations() {
  std::vector<Operation> out;
  for (const auto& list : {elementwise(), shapes_and_sums(), products_and_losses(), images()}) out.insert(out.end(), list.begin(), list.end());
  return out;
}

class CoreOperations : public testing::TestWithParam<Operation> {
 protected:
  Defaults defaults_;
};

TEST_P(CoreOperations, GradientsMatchFiniteDifferences) { core_tests::expect_gradients(GetParam()); }
TEST_P(CoreOperations, GradientsOfSeveralUsesAddUp) { core_tests::expect_gradients_add_up(GetParam()); }
TEST_P(CoreOperations, DevicesMatchTheFloat64Reference) { core_tests::expect_devices_agree(GetParam()); }
TEST_P(CoreOperations, SixteenBitsMatchTheFloat64Reference) { core_tests::expect_low_precision_agrees(GetParam()); }
TEST_P(CoreOperations, SameBitsAgain) { core_tests::expect_same_bits_again(GetParam()); }
TEST_P(CoreOperations, OnCublas) { core_tests::expect_gpu_agrees(GetParam(), hvd::kCUBLAS); }
TEST_P(CoreOperations, OnCudnn) { core_tests::expect_gpu_agrees(GetParam(), hvd::kCUDNN); }

INSTANTIATE_TEST_SUITE_P(All, CoreOperations, testing::ValuesIn(all_operations()),
                         [](const testing::TestParamInfo<Operation>& info) { return info.param.name; });

}  // namespace
}  // namespace core_operations_test
