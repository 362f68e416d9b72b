// SPDX-License-Identifier: Apache-2.0
// e2e: name=progress_of_steps; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=progress_of_samples; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=progress_in_loss; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=progress_in_object; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=progress_of_warm_rate; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=size_in_pair; cxx=-DFORM=6; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=mean_grown; cxx=-DFORM=7; scaled={8*N} 0.01; ranks=1,2,3; timeout=60
// e2e: name=mean_grown_in_place; cxx=-DFORM=8; scaled={8*N} 0.01; ranks=1,3; timeout=60
// e2e: name=sum_shrunk_in_place; cxx=-DFORM=9; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// A weight that says how far training has come (a count of steps over all steps, of which there are fewer with larger batches) is a weight like any other:
// the rate follows the size of the batch. A size of batches beside another number in a pair is still that size; and a loss
// is what the last of its changes has made of it: a mean times the size of the batch grows with it as a sum does, and its rate stays.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace F = hvd::nn::functional;

struct Ramp {
  long step = 0;
  double steps;
  double next() { return std::min(1.0, ++step / steps); }
};

int main(int, char** argv) {
  hvd::manual_seed(5);
  constexpr int kEpochs = 2;
  const long rows = 48;
  const long size = std::strtol(argv[1], nullptr, 10);
  const double rate = std::atof(argv[2]);
  auto x = hvd::randn({rows, 6}, hvd::kFloat64), y = x.slice(1, 0, 3).argmax(1);
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(size));
  hvd::nn::Linear net(6, 3);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  const long steps_per_epoch = rows / size;
  const double total_steps = kEpochs * steps_per_epoch;
  [[maybe_unused]] long step = 0, seen = 0;
  [[maybe_unused]] Ramp ramp{0, total_steps};
  [[maybe_unused]] auto [divisor, one] = std::make_pair(static_cast<double>(size), 1);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    double total = 0;
    for (auto& batch : *loader) {
      opt.zero_grad();
#if FORM == 9
      auto loss = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(hvd::kSum));
      loss.div_(static_cast<double>(size));
#elif FORM == 6
      auto loss = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(hvd::kSum)) / divisor;
#else
      auto loss = F::cross_entropy(net(batch.data), batch.target);
#endif
#if FORM == 1
      const double weight = ++step / total_steps;
      loss = loss * weight;
#elif FORM == 2
      seen += batch.data.size(0);
      loss = loss * (static_cast<double>(seen) / (kEpochs * rows));
#elif FORM == 3
      ++step;
      loss = loss * static_cast<double>(step) / total_steps;
#elif FORM == 4
      loss = loss * ramp.next();
#elif FORM == 5
      ++step;
      for (auto& group : opt.param_groups()) group.options().set_lr(rate * static_cast<double>(step) / total_steps);
#elif FORM == 7
      loss = loss * static_cast<double>(size);
#elif FORM == 8
      loss.mul_(static_cast<double>(size));
#endif
      loss.backward();
      opt.step();
      total += loss.item<double>();
    }
    std::printf("%.9f\n", total / steps_per_epoch);
  }
  hvd::save(net, "net.safetensors");
}
