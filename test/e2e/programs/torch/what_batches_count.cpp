// SPDX-License-Identifier: Apache-2.0
// e2e: name=weights_of_a_batch; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=weights_by_bincount; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=numbers_of_rows_by_size; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=largest_of_one_number; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=rows_counted_from_memory; cxx=-DFORM=4; modes=global; args=8 0.05; ranks=1,2,3; timeout=90; warns=HVD2010
// e2e: name=one_row_for_all; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: class weights that are counted from the labels of the batch
// form: columns taken row by row with torch::arange(batch size)
// form: rows counted from the size of the memory that holds them
// form: a loss between the rows of a batch and one row that broadcasts
// What a program counts of a batch is that of the whole one, where it meets numbers that all ranks have, and this rank's where it numbers rows.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

namespace F = torch::nn::functional;

#if FORM == 4
torch::Tensor as_rows(std::vector<double>& numbers) {
  const int64_t rows = static_cast<int64_t>(numbers.size()) / 4;
  return torch::from_blob(numbers.data(), {rows, 4}, torch::kDouble);
}
#endif

int main(int argc, char** argv) {
  torch::manual_seed(11);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({61, 4}, torch::kDouble);
  auto y = (x.select(1, 0) - x.select(1, 1)).gt(0.2).to(torch::kLong) + x.select(1, 2).gt(0.8).to(torch::kLong);
  torch::nn::Sequential net(torch::nn::Linear(4, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  for (int epoch = 0; epoch < 2; ++epoch) {
#if FORM == 2
    for (int step = 0; step < 61 / batch; ++step) {
      auto rows = torch::randint(0, 61, {batch}, torch::kLong);
      auto values = net->forward(x.index_select(0, rows));
      values = values.index({torch::arange(batch), y.index_select(0, rows)});
      auto loss = torch::mse_loss(values, x.index_select(0, rows).sum(1));
      const int64_t at = step;
#elif FORM == 4
    for (int64_t at = 0; at + batch <= 61; at += batch) {
      std::vector<double> numbers(static_cast<size_t>(batch) * 4);
      for (int64_t i = 0; i < batch * 4; ++i) numbers[static_cast<size_t>(i)] = x[at + i / 4][i % 4].item<double>();
      auto rows = as_rows(numbers);
      auto loss = torch::mse_loss(net->forward(rows).select(1, 0), rows.sum(1));
#else
    for (int64_t at = 0; at < 61; at += batch) {
      auto rows = x.slice(0, at, std::min<int64_t>(61, at + batch)), labels = y.slice(0, at, std::min<int64_t>(61, at + batch));
      auto scores = net->forward(rows);
#if FORM == 0
      auto counts = F::one_hot(labels, 3).to(torch::kDouble).sum(0);
      auto weights = double(labels.size(0)) / (counts * 3 + 1e-6);
      auto loss = F::cross_entropy(scores, labels, F::CrossEntropyFuncOptions().weight(weights));
#elif FORM == 1
      auto counts = torch::bincount(labels, {}, 3).to(torch::kDouble);
      auto weights = static_cast<double>(labels.size(0)) / (counts + 1);
      auto loss = F::cross_entropy(scores, labels, F::CrossEntropyFuncOptions().weight(weights));
#elif FORM == 5
      const auto centre = torch::full({3}, 0.3, torch::kDouble);
      auto loss = F::cross_entropy(scores, labels) + 0.1 * torch::mse_loss(scores.reshape({-1, 3}), centre);
#else
      auto loss = F::cross_entropy(scores, labels);
#endif
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
#if FORM == 3
      std::printf("%.9f of at most %.9f\n", loss.min().item<double>(), loss.max().item<double>());
#endif
      std::printf("%d %lld %.9f\n", epoch, static_cast<long long>(at), loss.item<double>());
    }
  }
  torch::save(net, "net.pt");
}
