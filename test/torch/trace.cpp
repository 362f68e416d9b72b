// SPDX-License-Identifier: Apache-2.0

// HVD_TRACE of LibTorch programs.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.hpp"

#include "dist/rank.hpp"

namespace trace_test {
namespace {

using namespace hvd::test;
namespace td = torch::data;

struct Rows : td::Dataset<Rows> {
  td::Example<> get(std::size_t i) override { return {numbers({6}, static_cast<double>(i)), torch::tensor(static_cast<std::int64_t>(i % 3))}; }
  c10::optional<std::size_t> size() const override { return 10; }
};

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(TorchTrace, PhasesAndReductionsOfAllRanks) {
  const auto file = std::filesystem::temp_directory_path() / ("hvd-torch-trace-" + std::to_string(getpid()) + ".json");
  hvd::testing::spawn(3, [&] {
    hvd::dist::Rank& rank = *hvd::dist::this_rank();
    rank.settings.bucket_bytes = 1;  // one tensor each
    rank.begin_trace(file.string());
    Net net;
    torch::optim::SGD opt(net->parameters(), 0.1);
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    auto loader = td::make_data_loader(Rows().map(td::transforms::Stack<>()), hvd::Sharded<td::samplers::SequentialSampler>(10), td::DataLoaderOptions(4));
    for (auto& batch : hvd::steps(loader)) {
      opt.zero_grad();
      hvd::weighted(torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
  });
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  constexpr std::size_t kRanks = 3, kBatches = 3, kBuckets = 4;
  for (const char* phase : {"forward", "backward", "reduce gradients", "update"})
    EXPECT_EQ(count(text.str(), "\"cat\":\"phase\",\"name\":\"" + std::string(phase) + "\""), kRanks * kBatches) << phase;
  EXPECT_EQ(count(text.str(), "\"name\":\"loading\""), kRanks * (kBatches + 1));  // the last look finds the end
  EXPECT_EQ(count(text.str(), "\"name\":\"allreduce gradients\""), kRanks * kBatches * kBuckets);
  EXPECT_EQ(count(text.str(), "\"cat\":\"bucket\""), kRanks * kBatches * kBuckets);
  for (int rank = 0; rank < 3; ++rank) EXPECT_FALSE(std::filesystem::exists(hvd::dist::Trace::part_path(file.string(), rank)));
}

}  // namespace
}  // namespace trace_test
