// SPDX-License-Identifier: Apache-2.0
//
// Operations of tensors on shapes that are drawn, as core_random_shapes.cpp does it for layers: element by element, sums, shapes, parts, products.
// The first draw of each is a batch of one; RowsStandAlone takes the samples one by one and then none.
#include "test/unit/core_support.hpp"

namespace core_random_elements_test {
namespace {

using core_tests::Defaults;
using core_tests::Dice;
using core_tests::kDraws;
using core_tests::Operation;
using hvd::Tensor;
using Inputs = std::vector<Tensor>;
using Shapes = std::vector<std::vector<int64_t>>;
namespace F = hvd::nn::functional;

Tensor numbers(const Tensor& like, const std::vector<int64_t>& values) { return hvd::tensor(values, hvd::TensorOptions(hvd::kInt64).device(like.device())); }

/// Sizes of one draw: [n, c, w], w odd.
struct Sizes {
  Sizes(Dice& d, bool first) : n(first ? 1 : d(2, 4)), c(d(1, 3)), w(2 * d(0, 6) + 1) {}
  int64_t n, c, w;
  Shapes one() const { return {{n, c, w}}; }
  Shapes two() const { return {{n, c, w}, {n, c, w}}; }
};

std::vector<Operation> binary(const Sizes& s) {
  const Shapes with_columns = {{s.n, s.c, s.w}, {s.c, 1}}, with_row = {{s.n, s.c, 1}, {s.w}};
  return {
      {"add", s.two(), [](const Inputs& x) { return x[0] + x[1]; }, -1, 1, 2},
      {"add_broadcast", with_columns, [](const Inputs& x) { return x[0].add(x[1]); }, -1, 1, 1},
      {"sub", s.two(), [](const Inputs& x) { return x[0] - x[1]; }, -1, 1, 2},
      {"sub_broadcast", with_row, [](const Inputs& x) { return x[0].sub(x[1]); }, -1, 1, 1},
      {"mul", s.two(), [](const Inputs& x) { return x[0] * x[1]; }, -1, 1, 2},
      {"mul_broadcast", with_row, [](const Inputs& x) { return x[0].mul(x[1]); }, -1, 1, 1},
      {"div", s.two(), [](const Inputs& x) { return x[0] / x[1]; }, 0.5, 2, 2},
      {"div_broadcast", with_columns, [](const Inputs& x) { return x[0].div(x[1]); }, 0.5, 2, 1},
      {"add_number", s.one(), [](const Inputs& x) { return 0.25 + x[0].add(1) + 0.5; }, -1, 1, 1},
      {"sub_number", s.one(), [](const Inputs& x) { return 0.25 - x[0].sub(1); }, -1, 1, 1},
      {"mul_number", s.one(), [](const Inputs& x) { return 0.25 * x[0].mul(3); }, -1, 1, 1},
      {"div_number", s.one(), [](const Inputs& x) { return 0.75 / x[0].div(3); }, 0.5, 2, 1},
  };
}

std::vector<Operation> unary(const Sizes& s) {
  const Shapes one = s.one();
  return {
      {"neg", one, [](const Inputs& x) { return -x[0] + x[0].neg(); }, -1, 1, 1},
      {"pow", one, [](const Inputs& x) { return x[0].pow(2.5); }, 0.5, 2, 1},
      {"pow_cube", one, [](const Inputs& x) { return x[0].pow(3); }, -2, 2, 1},
      {"square", one, [](const Inputs& x) { return x[0].square(); }, -1, 1, 1},
      {"sqrt", one, [](const Inputs& x) { return x[0].sqrt(); }, 0.5, 2, 1},
      {"exp", one, [](const Inputs& x) { return x[0].exp(); }, -2, 2, 1},
      {"log", one, [](const Inputs& x) { return x[0].log(); }, 0.5, 2, 1},
      {"abs", one, [](const Inputs& x) { return x[0].abs(); }, -1, 1, 1},
      {"tanh", one, [](const Inputs& x) { return x[0].tanh(); }, -3, 3, 1},
      {"sigmoid", one, [](const Inputs& x) { return x[0].sigmoid(); }, -5, 5, 1},
      {"relu", one, [](const Inputs& x) { return x[0].relu(); }, -1, 1, 1},
      {"clamp", one, [](const Inputs& x) { return x[0].clamp(-0.5, 0.25); }, -1, 1, 1},
      {"softmax", one, [](const Inputs& x) { return x[0].softmax(-1); }, -3, 3, 1},
      {"softmax_middle", one, [](const Inputs& x) { return x[0].softmax(1); }, -3, 3, 1},
      {"log_softmax", one, [](const Inputs& x) { return x[0].log_softmax(2); }, -3, 3, 1},
      {"dropout", one, [](const Inputs& x) { return F::dropout(x[0], 0.4, true); }, -1, 1, 0},
  };
}

std::vector<Operation> in_place(const Sizes& s) {
  const auto copy = [](const Tensor& x) { return x * 1; };
  const Shapes with_row = {{s.n, s.c, s.w}, {s.w}};
  return {
      {"add_in_place", with_row, [=](const Inputs& x) { return (copy(x[0]).add_(x[1]).add_(0.5).add_(x[1], 3) += x[1]) += 2; }, -1, 1, 1},
      {"sub_in_place", with_row, [=](const Inputs& x) { return (copy(x[0]).sub_(x[1]).sub_(0.5) -= x[1]) -= 2; }, -1, 1, 1},
      {"mul_in_place", with_row, [=](const Inputs& x) { return (copy(x[0]).mul_(x[1]).mul_(0.5) *= x[1]) *= 2; }, -1, 1, 1},
      {"div_in_place", with_row, [=](const Inputs& x) { return (copy(x[0]).div_(x[1]).div_(0.5) /= x[1]) /= 2; }, 0.5, 2, 1},
      {"clamp_in_place", s.one(), [=](const Inputs& x) { return copy(x[0]).clamp_(-0.5, 0.25); }, -1, 1, 1},
      {"copy_in_place", with_row, [=](const Inputs& x) { return copy(x[0]).copy_(x[1]) * x[0]; }, -1, 1, 1},
      // What was there has no gradient any more.
      {"fill_in_place", s.one(), [=](const Inputs& x) { return copy(x[0]).fill_(0.5) * x[0] + copy(x[0]).zero_() * x[0]; }, -1, 1, 1},
  };
}

std::vector<Operation> sums(const Sizes& s) {
  const Shapes one = s.one();
  return {
      {"sum", one, [](const Inputs& x) { return x[0].sum(); }},
      {"sum_dim", one, [](const Inputs& x) { return x[0].sum(1); }, -1, 1, 1},
      {"sum_dims", one, [](const Inputs& x) { return x[0].sum({1, 2}, true); }, -1, 1, 1},
      {"sum_apart", one, [](const Inputs& x) { return x[0].sum({0, 2}); }},
      {"mean", one, [](const Inputs& x) { return x[0].mean(); }},
      {"mean_dim", one, [](const Inputs& x) { return x[0].mean(-1); }, -1, 1, 1},
      {"mean_dims", one, [](const Inputs& x) { return x[0].mean({2, 1}, true); }, -1, 1, 1},
      {"max", one, [](const Inputs& x) { return x[0].max(); }},
      {"max_dim", one, [](const Inputs& x) { return x[0].max(1).first; }, -1, 1, 1},
      {"min", one, [](const Inputs& x) { return x[0].min(); }},
      {"min_dim", one, [](const Inputs& x) { return x[0].min(2, true).first; }, -1, 1, 1},
      {"norm", one, [](const Inputs& x) { return x[0].norm(); }},
  };
}

std::vector<Operation> shapes(const Sizes& s) {
  const Shapes one = s.one();
  const int64_t c = s.c, w = s.w;
  return {
      {"view", one, [=](const Inputs& x) { return x[0].view({x[0].size(0), c * w}); }, -1, 1, 1},
      {"view_as", s.two(), [=](const Inputs& x) { return x[0].view({x[0].size(0), c * w}).view_as(x[1]) * x[1]; }, -1, 1, 2},
      {"reshape", one, [=](const Inputs& x) { return x[0].transpose(1, 2).reshape({x[0].size(0), c * w}); }, -1, 1, 1},
      {"flatten", one, [](const Inputs& x) { return x[0].flatten(1); }, -1, 1, 1},
      {"transpose", one, [](const Inputs& x) { return x[0].transpose(1, 2); }, -1, 1, 1},
      {"permute", one, [](const Inputs& x) { return x[0].permute({0, 2, 1}) * 2; }, -1, 1, 1},
      {"permute_batch", one, [](const Inputs& x) { return x[0].permute({2, 0, 1}); }},
      {"t", {{s.n, s.w}}, [](const Inputs& x) { return x[0].t(); }},
      {"squeeze", {{s.n, 1, s.w}}, [](const Inputs& x) { return x[0].squeeze(1); }, -1, 1, 1},
      {"squeeze_all", {{s.w + 1, 1, s.c + 1}}, [](const Inputs& x) { return x[0].squeeze(); }},
      {"unsqueeze", one, [](const Inputs& x) { return x[0].unsqueeze(2); }, -1, 1, 1},
      {"expand", {{s.n, 1, s.w}}, [=](const Inputs& x) { return x[0].expand({x[0].size(0), c, w}); }, -1, 1, 1},
      {"contiguous", one, [](const Inputs& x) { return x[0].transpose(1, 2).contiguous(); }, -1, 1, 1},
      {"clone", one, [](const Inputs& x) { return x[0].clone(); }, -1, 1, 1},
      {"to", one, [](const Inputs& x) { return x[0].to(hvd::kFloat64).square().to(x[0].dtype()); }, -1, 1, 1},
      {"to_device", one, [](const Inputs& x) { return (x[0].cpu().exp() + x[0].to(hvd::kCPU)).to(x[0].device()); }, -1, 1, 1},
  };
}

std::vector<Operation> parts(const Sizes& s, Dice& d) {
  const Shapes one = s.one();
  const int64_t c = s.c, w = s.w, start = d(0, w - 1), end = d(start, w), which = d(0, c - 1), length = d(1, 3);
  const std::vector<int64_t> some = {d(0, w - 1), d(0, w - 1), w - 1, 0, d(0, w - 1)}, rows = {s.n - 1, 0, s.n - 1};
  return {
      {"slice", one, [=](const Inputs& x) { return x[0].slice(2, start, end); }, -1, 1, end > start ? 1 : 0},
      {"narrow", one, [=](const Inputs& x) { return x[0].narrow(2, start, 1); }, -1, 1, 1},
      {"select", one, [=](const Inputs& x) { return x[0].select(1, which); }, -1, 1, 1},
      {"element", one, [=](const Inputs& x) { return x[0][-1] * 2; }},
      {"split", one, [=](const Inputs& x) { return x[0].split(length, 2).back() + x[0].split(length, 2).front().sum(2, true); }, -1, 1, 1},
      {"chunk", one, [=](const Inputs& x) { return x[0].chunk(length, 2).back() * x[0].chunk(length, 2).front().sum(2, true); }, -1, 1, 1},
      {"cat", {{s.n, c, w}, {s.n, c, length}}, [](const Inputs& x) { return hvd::cat({x[0], x[1], x[0]}, 2); }, -1, 1, 2},
      {"cat_rows", {{s.n, c}, {length, c}}, [](const Inputs& x) { return hvd::cat({x[1], x[0]}); }},
      {"stack", s.two(), [](const Inputs& x) { return hvd::stack({x[0], x[1], x[0]}, 1); }, -1, 1, 2},
      {"index_select", one, [=](const Inputs& x) { return x[0].index_select(2, numbers(x[0], some)); }, -1, 1, 1},
      {"index_select_rows", one, [=](const Inputs& x) { return x[0].index_select(0, numbers(x[0], rows)); }},
      {"gather", one,
       [=](const Inputs& x) { return x[0].gather(2, numbers(x[0], some).view({1, 1, 5}).expand({x[0].size(0), c, 5}).contiguous()); }, -1, 1, 1},
      {"masked_fill", one, [=](const Inputs& x) { return x[0].masked_fill(x[0].gt(0.25), -2); }, -1, 1, 1},
  };
}

std::vector<Operation> products(const Sizes& s, Dice& d) {
  const int64_t m = s.n, k = s.w, n = d(1, 5);
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < s.n; ++i) classes.push_back(d(0, s.w - 1));
  const auto targets = [=](const Tensor& x) { return numbers(x, {classes.begin(), classes.begin() + x.size(0)}); };
  // One by one the rows would need their own target: means over all of them.
  return {
      {"mm", {{m, k}, {k, n}}, [](const Inputs& x) { return x[0].mm(x[1]); }, -1, 1, 1},
      {"mm_transposed", {{m, k}, {n, k}}, [](const Inputs& x) { return x[0].mm(x[1].t()); }, -1, 1, 1},
      {"matmul_row", {{k}, {k, n}}, [](const Inputs& x) { return x[0].matmul(x[1]); }},
      {"linear", {{m, k}, {n, k}, {n}}, [](const Inputs& x) { return F::linear(x[0], x[1], x[2]); }, -1, 1, 1},
      {"linear_3d", {{m, s.c, k}, {n, k}}, [](const Inputs& x) { return F::linear(x[0], x[1]); }, -1, 1, 1},
      {"cross_entropy", {{m, k}}, [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0])); }},
      {"cross_entropy_sum", {{m, k}}, [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0]), F::CrossEntropyFuncOptions().reduction(hvd::kSum)); }},
      {"nll_loss", {{m, k}}, [=](const Inputs& x) { return F::nll_loss(x[0].log_softmax(1), targets(x[0])); }},
      {"mse_loss", {{m, k}, {m, k}}, [](const Inputs& x) { return F::mse_loss(x[0], x[1]); }},
      {"mse_loss_each", {{m, k}, {m, k}}, [](const Inputs& x) { return F::mse_loss(x[0], x[1], hvd::kNone); }, -1, 1, 2},
  };
}

std::vector<Operation> all_operations() {
  std::vector<Operation> out;
  for (uint32_t seed = 0; seed < kDraws; ++seed) {
    Dice d(seed + 100);
    const Sizes s(d, seed == 0);
    for (auto& list : {binary(s), unary(s), in_place(s), sums(s), shapes(s), parts(s, d), products(s, d)})
      for (Operation op : list) {
        op.name += '_';
        op.name += std::to_string(seed);
        out.push_back(std::move(op));
      }
  }
  return out;
}

class CoreRandomElements : public testing::TestWithParam<Operation> {
 protected:
  Defaults defaults_;
};

TEST_P(CoreRandomElements, GradientsMatchFiniteDifferences) { core_tests::expect_gradients(GetParam()); }
TEST_P(CoreRandomElements, DevicesMatchTheFloat64Reference) { core_tests::expect_devices_agree(GetParam()); }
TEST_P(CoreRandomElements, SixteenBitsMatchTheFloat64Reference) { core_tests::expect_low_precision_agrees(GetParam()); }

class CoreRowElements : public CoreRandomElements {};
TEST_P(CoreRowElements, RowsStandAlone) { core_tests::expect_rows_stand_alone(GetParam()); }

std::vector<Operation> row_operations() {
  std::vector<Operation> out = all_operations();
  std::erase_if(out, [](const Operation& op) { return op.rows == 0; });
  return out;
}

std::string name_of(const testing::TestParamInfo<Operation>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, CoreRandomElements, testing::ValuesIn(all_operations()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CoreRowElements, testing::ValuesIn(row_operations()), name_of);

}  // namespace
}  // namespace core_random_elements_test
