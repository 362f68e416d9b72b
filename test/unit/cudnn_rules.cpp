// SPDX-License-Identifier: Apache-2.0
//
// What the device `cudnn` decides before it asks cuDNN: needs neither cuDNN nor a GPU.
#include "device/cudnn/rules/attention.hpp"
#include "device/cudnn/rules/convolution.hpp"
#include "device/cudnn/rules/numerics.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cudnn_rules_test {
namespace {

using namespace hvd::backends;
using namespace hvd::backends::cuda::rules;
using hvd::Dtype;

const Window2d kWindow = {8, 64, 56, 56, 128, 3, 3, 1, 2, 1, 1, 56, 28};

TEST(CudnnRules, EnginesKeepThePromisesOfNumbers) {
  const auto note = [](bool Notes::* which) {
    Notes notes;
    notes.*which = true;
    return notes;
  };
  const Arithmetic single{Dtype::kFloat32, false, false}, tf32{Dtype::kFloat32, false, true}, wide{Dtype::kFloat64, false, false},
      low{Dtype::kBFloat16, false, false}, fixed{Dtype::kFloat16, true, false};
  for (const Arithmetic& a : {single, tf32, wide, low, fixed}) {
    EXPECT_TRUE(keeps_promises({}, a));
    EXPECT_FALSE(keeps_promises(note(&Notes::down_convert), a));
    EXPECT_FALSE(keeps_promises(note(&Notes::reduced_reduction), a));
    EXPECT_EQ(keeps_promises(note(&Notes::nondeterministic), a), !a.deterministic);
    EXPECT_EQ(keeps_promises(note(&Notes::tensor_core), a), a.dtype != Dtype::kFloat32 || a.tf32);
    EXPECT_EQ(keeps_promises(note(&Notes::winograd), a), !hvd::is_low_precision(a.dtype));
    EXPECT_EQ(keeps_promises(note(&Notes::fft), a), !hvd::is_low_precision(a.dtype));
  }
}

TEST(CudnnRules, AlignmentIsThatOfTheAddress) {
  alignas(32) const char bytes[64] = {};
  EXPECT_EQ(alignment_of(bytes), 16);
  EXPECT_EQ(alignment_of(bytes + 16), 16);
  EXPECT_EQ(alignment_of(bytes + 8), 8);
  EXPECT_EQ(alignment_of(bytes + 12), 4);
  EXPECT_EQ(alignment_of(bytes + 6), 2);
  EXPECT_EQ(alignment_of(bytes + 7), 1);
}

TEST(CudnnRules, StridesOfBothLayouts) {
  const Image first = image(Layout::kNchw, 2, 3, 5, 7), last = image(Layout::kNhwc, 2, 3, 5, 7);
  EXPECT_EQ(first.stride, (std::array<int64_t, 4>{105, 35, 7, 1}));
  EXPECT_EQ(last.stride, (std::array<int64_t, 4>{105, 1, 21, 3}));
  EXPECT_EQ(last.size, first.size);
  // Each element has a place of its own, the n-th image begins where images end.
  for (const Image& i : {first, last}) {
    std::set<int64_t> places;
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t y = 0; y < 5; ++y)
          for (int64_t x = 0; x < 7; ++x) places.insert(n * i.stride[0] + c * i.stride[1] + y * i.stride[2] + x * i.stride[3]);
    EXPECT_EQ(places.size(), 210u);
    EXPECT_EQ(*places.rbegin(), 209);
  }
}

TEST(CudnnRules, OperandsOfAWindowWithGroups) {
  Window2d w = kWindow;
  w.groups = 4;
  EXPECT_EQ(weight_of(w, Layout::kNchw).size, (std::array<int64_t, 4>{128, 16, 3, 3}));
  EXPECT_EQ(weight_of(w, Layout::kNhwc).stride, (std::array<int64_t, 4>{144, 1, 48, 16}));
  EXPECT_EQ(output_of(w, Layout::kNchw).size, (std::array<int64_t, 4>{8, 128, 56, 28}));
  EXPECT_EQ(bias_of(w, Layout::kNchw).size, (std::array<int64_t, 4>{1, 128, 1, 1}));
}

TEST(CudnnRules, WindowsThatCudnnCountsOtherwiseAreLeft) {
  EXPECT_TRUE(fits_cudnn(kWindow));
  Window2d w = kWindow;
  w.ow = 29;  // a transposed convolution's extra column
  EXPECT_FALSE(fits_cudnn(w));
  w = kWindow;
  w.n = int64_t{1} << 20;
  EXPECT_FALSE(fits_cudnn(w));
  w = kWindow;
  w.n = 0;
  EXPECT_FALSE(fits_cudnn(w));
  w = kWindow;
  w.dilation_h = 2;
  EXPECT_FALSE(fits_cudnn(w));
  w.oh = 54;
  EXPECT_TRUE(fits_cudnn(w));
}

TEST(CudnnRules, ChannelsLastWhereTensorCoresLoadWholeChannels) {
  const auto layouts_of = [](Dtype dtype, bool tf32, int64_t c, int64_t k, int64_t groups) {
    Window2d w = kWindow;
    w.c = c;
    w.k = k;
    w.groups = groups;
    return layouts({Product::kForward, {dtype, false, tf32}, w, false, 16});
  };
  const std::vector<Layout> both = {Layout::kNhwc, Layout::kNchw}, one = {Layout::kNchw};
  EXPECT_EQ(layouts_of(Dtype::kBFloat16, false, 64, 128, 1), both);
  EXPECT_EQ(layouts_of(Dtype::kFloat16, false, 64, 128, 8), both);
  EXPECT_EQ(layouts_of(Dtype::kFloat16, false, 64, 128, 16), one);
  EXPECT_EQ(layouts_of(Dtype::kBFloat16, false, 3, 64, 1), one);
  EXPECT_EQ(layouts_of(Dtype::kBFloat16, false, 64, 12, 1), one);
  EXPECT_EQ(layouts_of(Dtype::kFloat32, true, 64, 12, 1), both);
  EXPECT_EQ(layouts_of(Dtype::kFloat32, false, 64, 128, 1), one);
  EXPECT_EQ(layouts_of(Dtype::kFloat64, false, 64, 128, 1), one);
}

// Each of these asks for a plan of its own.
TEST(CudnnRules, PlansAreKeptByEverythingTheyDependOn) {
  const Convolution base = {Product::kForward, {Dtype::kFloat32, false, false}, kWindow, false, 16};
  std::vector<Convolution> all = {base};
  const auto with = [&](auto change) {
    Convolution c = base;
    change(c);
    all.push_back(c);
  };
  with([](Convolution& c) { c.product = Product::kGradInput; });
  with([](Convolution& c) { c.product = Product::kGradWeight; });
  with([](Convolution& c) { c.arithmetic.dtype = Dtype::kFloat64; });
  with([](Convolution& c) { c.arithmetic.deterministic = true; });
  with([](Convolution& c) { c.arithmetic.tf32 = true; });
  with([](Convolution& c) { c.bias = true; });
  with([](Convolution& c) { c.alignment = 4; });
  int64_t Window2d::* const extents[] = {&Window2d::n,        &Window2d::c,     &Window2d::h,     &Window2d::w,  &Window2d::k,  &Window2d::kh,
                                         &Window2d::kw,       &Window2d::stride_h, &Window2d::stride_w, &Window2d::pad_h, &Window2d::pad_w, &Window2d::oh,
                                         &Window2d::ow,       &Window2d::dilation_h, &Window2d::dilation_w, &Window2d::groups};
  for (int64_t Window2d::* const extent : extents) with([&](Convolution& c) { c.window.*extent += 1; });
  const std::set<Convolution> different(all.begin(), all.end());
  EXPECT_EQ(different.size(), all.size());
  std::set<std::string> names;
  for (const Convolution& c : all) names.insert(describe(c));
  EXPECT_EQ(names.size(), all.size() - 2);  // the outputs' extents follow from the others
}

// 8 heads of 64 features, 40 queries and 72 keys.
const AttentionProblem kAttention = {{Dtype::kBFloat16, false, false}, {4, 8, 40, 72, 64, 0.125, 40 * 512, 512, 72 * 512, 512, 72 * 512, 512, 4}, false};

TEST(CudnnRules, AttentionThatCudnnTakes) {
  const auto fits = [](auto change, size_t version = 91900) {
    AttentionProblem a = kAttention;
    change(a);
    return fits_cudnn(a, version);
  };
  const auto as_is = [](AttentionProblem&) {};
  EXPECT_TRUE(fits(as_is));
  EXPECT_TRUE(fits(as_is, 91600));
  EXPECT_FALSE(fits(as_is, 91501));  // 128 does not divide 72
  const auto whole = [](AttentionProblem& a) { a.shape.s = 256; };
  EXPECT_TRUE(fits(whole, 91501));
  EXPECT_TRUE(fits(whole, 91002));
  EXPECT_FALSE(fits(whole, 91001));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.arithmetic.dtype = Dtype::kFloat32; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.width = 136; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.width = 60; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.k_row = 516; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.s = 71; }));  // rows of the mask
  EXPECT_TRUE(fits([](AttentionProblem& a) { a.shape.s = 71, a.shape.mask_batches = 0; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.mask_batches = 2; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.t = a.shape.s = 1, a.shape.mask_batches = 0; }));
  EXPECT_FALSE(fits([](AttentionProblem& a) { a.shape.n = 0; }));
}

TEST(CudnnRules, PlansOfAttentionAreKeptByEverythingButTheScale) {
  std::vector<AttentionProblem> all = {kAttention};
  const auto with = [&](auto change) {
    AttentionProblem a = kAttention;
    change(a);
    all.push_back(a);
  };
  with([](AttentionProblem& a) { a.backward = true; });
  with([](AttentionProblem& a) { a.arithmetic.dtype = Dtype::kFloat16; });
  with([](AttentionProblem& a) { a.arithmetic.deterministic = true; });
  int64_t Attention::* const extents[] = {&Attention::n,       &Attention::heads, &Attention::t,       &Attention::s,     &Attention::width,   &Attention::q_batch,
                                          &Attention::q_row,   &Attention::k_batch, &Attention::k_row, &Attention::v_batch, &Attention::v_row, &Attention::mask_batches};
  for (int64_t Attention::* const extent : extents) with([&](AttentionProblem& a) { a.shape.*extent += 1; });
  EXPECT_EQ(std::set<AttentionProblem>(all.begin(), all.end()).size(), all.size());
  std::set<std::string> names;
  for (const AttentionProblem& a : all) names.insert(describe(a));
  EXPECT_EQ(names.size(), all.size());
  with([](AttentionProblem& a) { a.shape.scale = 1; });
  EXPECT_EQ(std::set<AttentionProblem>(all.begin(), all.end()).size(), all.size() - 1);
}

}  // namespace
}  // namespace cudnn_rules_test
