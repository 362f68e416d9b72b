// e2e: scaled={8*N} {0.5*N}; ranks=1,2,3; timeout=60
// Word vectors with negative samples: some words for each pair of the batch, drawn by their chances in one list, and stood up as rows.
// form: negative samples drawn for a batch of pairs
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t words = 11, negatives = 3;
  const size_t batch = std::stoul(argv[1]);
  torch::manual_seed(9);
  auto chance = torch::arange(1, words + 1, torch::kDouble).pow(0.75);
  std::vector<int64_t> text;
  for (int64_t i = 0; i < 60; ++i) text.push_back(i * i % words);
  std::vector<int64_t> centers, contexts;
  for (size_t i = 1; i < text.size(); ++i) centers.push_back(text[i]), contexts.push_back(text[i - 1]);
  torch::nn::Embedding in(words, 4), out(words, 4);
  in->to(torch::kDouble);
  out->to(torch::kDouble);
  auto parameters = in->parameters();
  for (const auto& p : out->parameters()) parameters.push_back(p);
  torch::optim::SGD opt(parameters, std::stod(argv[2]));
  std::cout << std::setprecision(9);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (size_t at = 0; at < centers.size(); at += batch) {
      const size_t end = std::min(at + batch, centers.size());
      std::vector<int64_t> c(centers.begin() + at, centers.begin() + end), o(contexts.begin() + at, contexts.begin() + end);
      const int64_t n = static_cast<int64_t>(c.size());
      auto center = in(torch::tensor(c)), context = out(torch::tensor(o));
      auto drawn = torch::multinomial(chance, n * negatives, true).view({n, negatives});
      auto near = torch::log_sigmoid((center * context).sum(1));
      auto far = torch::log_sigmoid(-torch::bmm(out(drawn), center.unsqueeze(2)).squeeze(2)).sum(1);
      auto loss = -(near + far).mean();
      opt.zero_grad();
      loss.backward();
      opt.step();
      total += loss.item<double>() * static_cast<double>(n);
    }
    std::cout << epoch << ' ' << total / static_cast<double>(centers.size()) << '\n';
  }

// form: several numbers for each sample, put into one flat list
  for (size_t at = 0; at < centers.size(); at += batch) {
    std::vector<int64_t> c, o, others;
    for (size_t j = at; j < std::min(at + batch, centers.size()); ++j) {
      c.push_back(centers[j]);
      o.push_back(contexts[j]);
      for (int64_t k = 0; k < negatives; ++k) others.push_back((centers[j] * 3 + k * k) % words);
    }
    auto center = in(torch::tensor(c)), context = out(torch::tensor(o));
    auto far = torch::log_sigmoid(-(center.unsqueeze(1) * out(torch::tensor(others).view({-1, negatives}))).sum(-1)).sum(-1);
    auto loss = -(torch::log_sigmoid((center * context).sum(-1)) + far).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    std::cout << loss.item<double>() << '\n';
  }

  const torch::Tensor pairs = torch::stack({torch::tensor(centers), torch::tensor(contexts)}, 1);
  auto data = torch::data::datasets::TensorDataset(pairs.unbind(0)).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(data), batch);
  double total = 0;
  for (auto& examples : *loader) {
    const int64_t n = examples.data.size(0);
    auto center = in(examples.data.select(1, 0)), context = out(examples.data.select(1, 1));
    auto drawn = torch::multinomial(chance, n * negatives, true).view({n, negatives});
    auto far = torch::log_sigmoid(-torch::bmm(out(drawn), center.unsqueeze(2)).squeeze(2)).sum(1);
    auto loss = -(torch::log_sigmoid((center * context).sum(1)) + far).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    total += loss.item<double>();
  }
  std::cout << total << '\n';
}
