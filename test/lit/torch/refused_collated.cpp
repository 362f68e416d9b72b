// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Fields of a batch that a collation makes of its samples in other ways than one row for each: what a rank's own samples give does not add up.

//--- program.h
#include <torch/torch.h>

#include <vector>

struct Line {
  torch::Tensor words, tone;
};

struct Lines : torch::data::datasets::Dataset<Lines, Line> {
  Line get(size_t i) override { return {torch::arange(static_cast<int64_t>(1 + i % 4)), torch::full({1}, static_cast<double>(i % 5))}; }
  torch::optional<size_t> size() const override { return 44; }
};

struct Page {
  torch::Tensor words, tone;
  int64_t longest = 0;
};

//--- ragged.cpp
// form: words of samples laid one behind another by a collation
#include "program.h"

struct Join : torch::data::transforms::Collation<Page, std::vector<Line>> {
  Page apply_batch(std::vector<Line> lines) override {
    std::vector<torch::Tensor> words, tone;
    for (auto& line : lines) {
      words.push_back(line.words);
      tone.push_back(line.tone);
    }
    return {torch::cat(words), torch::stack(tone)};
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.words.unsqueeze(1).to(torch::kFloat)).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- left_out.cpp
// form: a collation that leaves samples out
#include "program.h"

struct Join : torch::data::transforms::Collation<Page, std::vector<Line>> {
  Page apply_batch(std::vector<Line> lines) override {
    std::vector<torch::Tensor> words, tone;
    for (auto& line : lines) {
      if (line.words.size(0) > 3) continue;
      words.push_back(line.words);
      tone.push_back(line.tone);
    }
    Page page;
    page.words = torch::nn::utils::rnn::pad_sequence(words, true);
    page.tone = torch::stack(tone);
    return page;
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.tone).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- erased.cpp
// form: a collation that erases samples from its list
#include "program.h"

#include <algorithm>

struct Join : torch::data::transforms::Collation<Page, std::vector<Line>> {
  Page apply_batch(std::vector<Line> lines) override {
    lines.erase(std::remove_if(lines.begin(), lines.end(), [](const Line& line) { return line.words.size(0) > 3; }), lines.end());
    std::vector<torch::Tensor> tone;
    for (auto& line : lines) tone.push_back(line.tone);
    return {torch::zeros({2}), torch::stack(tone)};
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.tone).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- longest.cpp
// form: the length of the longest sample, kept in the batch
#include "program.h"

#include <algorithm>
#include <cstdio>

struct Join : torch::data::transforms::Collation<Page, std::vector<Line>> {
  Page apply_batch(std::vector<Line> lines) override {
    std::vector<torch::Tensor> words, tone;
    int64_t longest = 0;
    for (auto& line : lines) {
      longest = std::max(longest, line.words.size(0));
      words.push_back(line.words);
      tone.push_back(line.tone);
    }
    return {torch::nn::utils::rnn::pad_sequence(words, true), torch::stack(tone), longest};
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.tone).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%ld\n", static_cast<long>(page.longest));  // refused: HVD3012
  }
}

//--- kept_of_the_first.cpp
// form: a batch that keeps fields of its first sample
#include "program.h"

struct Join : torch::data::transforms::Collation<Line, std::vector<Line>> {
  Line apply_batch(std::vector<Line> lines) override {
    std::vector<torch::Tensor> tone;
    for (size_t i = 0; i < lines.size(); ++i) tone.push_back(lines[i].tone);
    Line all = lines[0];
    all.tone = torch::stack(tone);
    return all;
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.tone).pow(2).mean() * page.words.sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- without_the_first.cpp
// form: a collation that passes over its first sample
#include "program.h"

struct Join : torch::data::transforms::Collation<Page, std::vector<Line>> {
  Page apply_batch(std::vector<Line> lines) override {
    std::vector<torch::Tensor> tone;
    for (size_t i = 1; i < lines.size(); ++i) tone.push_back(lines[i].tone);
    return {torch::zeros({2}), torch::stack(tone)};
  }
};

int main() {
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Lines().map(Join()), torch::data::DataLoaderOptions(6));
  for (auto& page : *loader) {
    auto loss = net(page.tone).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
