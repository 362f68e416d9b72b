// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A CTC loss whose labels or lengths are in a form that has no row for each sample, or whose scores have the samples first; packed sequences.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <algorithm>
#include <vector>

namespace F = torch::nn::functional;


struct Speech {
  std::vector<torch::Tensor> frames, letters;
  Speech() {
    for (int64_t i = 0; i < 40; ++i) frames.push_back(torch::randn({6 + i % 3, 4})), letters.push_back(torch::arange(1, 3 + i % 2));
  }
};

//--- labels_behind_each_other.cpp
// form: a CTC loss with labels one behind another
#include "program.h"

int main() {
  Speech all;
  torch::nn::Linear net(4, 5);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::nn::CTCLoss ctc;
  for (size_t begin = 0; begin < 40; begin += 8) {
    std::vector<torch::Tensor> frames, letters;
    std::vector<int64_t> steps, lengths;
    for (size_t i = begin; i < begin + 8; ++i) {
      frames.push_back(all.frames[i]), letters.push_back(all.letters[i]);
      steps.push_back(all.frames[i].size(0)), lengths.push_back(all.letters[i].size(0));
    }
    auto scores = net(torch::nn::utils::rnn::pad_sequence(frames)).log_softmax(2);
    auto loss = ctc(scores, torch::cat(letters), torch::tensor(steps), torch::tensor(lengths));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- lengths_in_a_list.cpp
// form: a CTC loss with lengths in lists of numbers
#include "program.h"

int main() {
  Speech all;
  torch::nn::Linear net(4, 5);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (size_t begin = 0; begin < 40; begin += 8) {
    std::vector<torch::Tensor> frames, letters;
    std::vector<int64_t> steps, lengths;
    for (size_t i = begin; i < begin + 8; ++i) {
      frames.push_back(all.frames[i]), letters.push_back(all.letters[i]);
      steps.push_back(all.frames[i].size(0)), lengths.push_back(all.letters[i].size(0));
    }
    auto scores = net(torch::nn::utils::rnn::pad_sequence(frames)).log_softmax(2);
    auto loss = torch::ctc_loss(scores, torch::nn::utils::rnn::pad_sequence(letters, true), steps, lengths);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- samples_first.cpp
// form: a CTC loss over scores whose samples come first
#include "program.h"

int main() {
  auto x = torch::randn({40, 8, 4}), y = torch::randint(1, 5, {40, 3}, torch::kLong);
  torch::nn::Linear net(4, 5);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int64_t begin = 0; begin < 40; begin += 8) {
    auto scores = net(x.slice(0, begin, begin + 8)).log_softmax(2);
    auto loss = F::ctc_loss(scores, y.slice(0, begin, begin + 8), torch::full({8}, 8, torch::kLong), torch::full({8}, 3, torch::kLong));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- other_folding.cpp
// form: time steps and samples folded by another number of steps
#include "program.h"

int main() {
  auto x = torch::randn({40, 6, 4}), y = torch::randint(0, 5, {40}, torch::kLong);
  torch::nn::LSTM rnn(torch::nn::LSTMOptions(4, 4));
  torch::optim::SGD optimizer(rnn->parameters(), 0.1);
  for (int64_t begin = 0; begin < 40; begin += 8) {
    auto states = std::get<0>(rnn(x.slice(0, begin, begin + 8).transpose(0, 1)));
    const int64_t parts = 3, samples = states.size(1);
    auto loss = states.reshape({parts * samples, -1}).pow(2).view({parts, samples, -1}).mean(0).max();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- packed_batches_made_before.cpp
// form: packed sequences of a batch that was made before
#include "program.h"

struct Lines {
  torch::Tensor words, lengths, classes;
};

int main() {
  std::vector<Lines> batches;
  for (int64_t i = 0; i < 4; ++i)
    batches.push_back({torch::randint(0, 9, {8, 5}, torch::kLong), torch::full({8}, 5, torch::kLong), torch::randint(0, 4, {8}, torch::kLong)});
  torch::nn::Embedding table(9, 3);
  torch::nn::GRU rnn(torch::nn::GRUOptions(3, 4).batch_first(true));
  torch::optim::SGD optimizer(rnn->parameters(), 0.1);
  for (const Lines& lines : batches) {
    auto packed = torch::nn::utils::rnn::pack_padded_sequence(table(lines.words), lines.lengths, true);
    auto last = std::get<1>(rnn->forward_with_packed_input(packed)).squeeze(0);
    auto loss = F::cross_entropy(last, lines.classes);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
