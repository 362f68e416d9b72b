// SPDX-License-Identifier: Apache-2.0

// HVD_COMPRESSION with LibTorch's optimizers.

#include "support.hpp"

#include "dist/rank.hpp"

namespace compression_test {
namespace {

using namespace hvd::test;
namespace optim = torch::optim;

// Two epochs over kBatches; the second layer's gradients are views of the buckets, the first's (float32) are of another bucket.
std::vector<at::Tensor> trained(const std::string& compression, bool overlap, bool accumulate) {
  hvd::dist::CompressionRule rule;
  EXPECT_TRUE(hvd::dist::read_compression(compression, rule));
  if (hvd::dist::Rank* rank = hvd::dist::this_rank()) rank->settings.compression = rule;
  Net net;
  torch::nn::Linear wide(6, 20), back(20, 6);
  fill(*wide);
  fill(*back);
  std::vector<at::Tensor> parameters = net->parameters();
  for (const auto& layer : {wide, back})
    for (const at::Tensor& p : layer->parameters()) parameters.push_back(p);
  optim::SGD opt(parameters, optim::SGDOptions(0.1).momentum(0.5));
  hvd::broadcast(*net, *wide, *back, opt);
  if (overlap) hvd::overlap(*net, opt);
  int number = 0;
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 6; ++epoch)
    for (const std::int64_t rows : kBatches) {
      hvd::StepScope scope;
      const int which = number % static_cast<int>(kBatches.size());
      const at::Tensor x = hvd::shard(inputs(rows, which)), y = hvd::shard(labels(rows, which));
      const at::Tensor through = back->forward(wide->forward(x.to(at::kFloat)).tanh()).to(at::kDouble);
      const at::Tensor loss = torch::nn::functional::cross_entropy(net->forward(x + through), y);
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      const double value = hvd::batch_mean(loss.item<double>());
      if (number < 7) first += value;
      if (number >= 35) last += value;
      if (++number % 2 && accumulate) continue;
      hvd::reduce_gradients(opt);
      opt.step();
      opt.zero_grad();
    }
  EXPECT_LT(last, first);
  std::vector<at::Tensor> end = copies(parameters);
  end.push_back(torch::tensor(last));
  return end;
}

class TorchCompression : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, TorchCompression, ::testing::Values(2, 3));

TEST_P(TorchCompression, TrainsReplicasThatAreOne) {
  for (const bool overlap : {false, true})
    for (const bool accumulate : {false, true}) {
      if (overlap && accumulate) continue;  // overlap is for one backward a step
      const auto alone = trained("none", overlap, accumulate);
      for (const char* compression : {"bf16", "fp16", "powersgd:2"}) {
        std::vector<std::vector<at::Tensor>> ends(static_cast<std::size_t>(GetParam()));
        hvd::testing::spawn(GetParam(), [&] { ends[static_cast<std::size_t>(hvd::rank())] = trained(compression, overlap, accumulate); });
        for (const auto& end : ends)
          for (std::size_t i = 0; i < end.size(); ++i) EXPECT_TRUE(end[i].equal(ends[0][i])) << compression << ", tensor " << i;
        const bool low_rank = std::string(compression) == "powersgd:2";
        EXPECT_LT(difference(ends[0].back(), alone.back()), low_rank ? 0.1 : 0.01) << compression;
        double apart = 0;
        for (std::size_t i = 0; i + 1 < alone.size(); ++i) apart = std::max(apart, difference(ends[0][i], alone[i]));
        EXPECT_GT(apart, 1e-7) << compression << " has changed nothing";
        EXPECT_LT(apart, low_rank ? 1.0 : 0.05) << compression;
      }
    }
}

}  // namespace
}  // namespace compression_test
