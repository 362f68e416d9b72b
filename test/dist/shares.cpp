// SPDX-License-Identifier: Apache-2.0

// HVD_SHARES on processes: a training run in which every rank sleeps for each row of its slices, that of HVD_TEST_SLOWED twenty times as long. Whatever the shares come to
// be, the run ends with what it ends with alone and with equal shares; where they are measured, the slowed rank ends with fewer rows of a
// batch than any other. Prints the rows of the last full batch by rank.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "check.hpp"
#include "dist/rank.hpp"

namespace {

using hvd::Tensor;
namespace data = hvd::data;
namespace F = hvd::nn::functional;

constexpr std::int64_t kSamples = 200, kBatch = 48;  // an epoch ends with a batch of 8
constexpr int kEpochs = 6;

data::datasets::TensorDataset samples() {
  const Tensor x = hvd::empty({kSamples, 6}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i));
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = (3 * i) % 5;
  return {x, y};
}

int slowed_rank() {
  const char* text = std::getenv("HVD_TEST_SLOWED");
  return text ? std::atoi(text) : -1;
}

struct Trained {
  std::vector<Tensor> parameters;
  std::vector<double> losses;
  std::int64_t rows = 0;  // of this rank in the last full batch
};

Trained train(bool together) {
  hvd::manual_seed(5);
  hvd::nn::Linear first(6, 8), second(8, 5);
  std::vector<Tensor> parameters = first->parameters();
  for (const Tensor& p : second->parameters()) parameters.push_back(p);
  hvd::optim::SGD optimizer(parameters, hvd::optim::SGDOptions(0.1).momentum(0.9));
  if (together) hvd::broadcast(first, second, optimizer);
  auto loader = data::make_data_loader<hvd::Sharded<data::RandomSampler>>(samples(), data::DataLoaderOptions(static_cast<std::size_t>(kBatch)).workers(static_cast<std::size_t>(hvd::rank() % 2)));
  Trained result;
  const auto step = [&](const data::Batch& batch) {
    optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(second->forward(first->forward(batch.data).tanh()), batch.target);
    if (!together) {
      loss.backward();
    } else {
      const hvd::Slice* slice = hvd::current_slice();
      if (slice && slice->global_rows == kBatch) result.rows = slice->rows;
      if (slice) std::this_thread::sleep_for(std::chrono::microseconds((hvd::rank() == slowed_rank() ? 2000 : 100) * slice->local_rows()));
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(optimizer);
    }
    optimizer.step();
    const double value = loss.item<double>();
    result.losses.push_back(together ? hvd::batch_mean(value) : value);
  };
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    if (together) {
      for (data::Batch& batch : hvd::steps(*loader)) step(batch);
    } else {
      for (data::Batch& batch : *loader) step(batch);
    }
  }
  for (const Tensor& p : parameters) result.parameters.push_back(p.detach().clone());
  return result;
}

double difference(const Trained& a, const Trained& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.parameters.size(); ++i)
    worst = std::max(worst, (a.parameters[i] - b.parameters[i]).abs().max().item<double>() / b.parameters[i].abs().max().item<double>());
  for (std::size_t i = 0; i < b.losses.size(); ++i) worst = std::max(worst, std::abs(a.losses[i] - b.losses[i]) / std::abs(b.losses[i]));
  return worst;
}

// The session's own shares are put away meanwhile.
Trained train_equally(hvd::dist::Rank& rank) {
  auto measured = std::move(rank.measured);
  const auto shares = std::exchange(rank.settings.shares, {});
  rank.comm->meter(nullptr);
  Trained result = train(true);
  rank.settings.shares = shares;
  rank.measured = std::move(measured);
  if (rank.measured) rank.comm->meter(&rank.measured->meter);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  const char* shares = std::getenv("HVD_SHARES");
  const bool measured = shares && std::strncmp(shares, "measured", 8) == 0;
  const Trained alone = train(false), equal = train_equally(rank), ours = train(true);
  HVD_CHECK(alone.losses.size() == 5 * kEpochs && alone.losses.back() > 0);
  HVD_CHECK(difference(equal, alone) <= 1e-10);
  HVD_CHECK(difference(ours, alone) <= 1e-10);
  HVD_CHECK(difference(ours, equal) <= 1e-10);
  if (hvd::size() == 1) return 0;
  HVD_CHECK((rank.measured != nullptr) == measured);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(hvd::size()));
  rank.comm->allgather(&ours.rows, 1, rows.data(), hvd::dist::DataType::int64, {"rows"});
  std::int64_t all = 0;
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    all += rows[r];
    text.append(" ").append(std::to_string(rows[r]));
    if (measured && slowed_rank() >= 0 && static_cast<int>(r) != slowed_rank()) HVD_CHECK(rows[static_cast<std::size_t>(slowed_rank())] < rows[r]);
  }
  HVD_CHECK(all == kBatch);
  if (!measured && !shares) HVD_CHECK(*std::max_element(rows.begin(), rows.end()) - *std::min_element(rows.begin(), rows.end()) <= 1);
  if (hvd::is_root()) std::printf("shares: rows of a batch by rank:%s, largest relative difference %.1e\n", text.c_str(), difference(ours, equal));
}
