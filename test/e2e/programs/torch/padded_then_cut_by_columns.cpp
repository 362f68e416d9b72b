// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: padded token rows filled through an accessor, whose columns are then cut into what goes in and what is to come out, `ids.slice(1, 0, -1)` and `ids.slice(1, 1)`
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using torch::Tensor;

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const size_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  std::vector<std::vector<int64_t>> texts;
  for (int i = 0; i < 45; ++i) {
    texts.emplace_back();
    for (int k = 0; k < 3 + i * 7 % 6; ++k) texts.back().push_back((i * 5 + k * 3) % 9 + 1);
  }
  std::stable_sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  torch::nn::Embedding embed(10, 6);
  torch::nn::Linear head(6, 10);
  std::vector<Tensor> parameters = embed->parameters();
  for (const Tensor& p : head->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t tokens = 0;
    for (size_t at = 0; at < texts.size(); at += rows) {
      const size_t end = std::min(at + rows, texts.size());
      size_t longest = 0;
      for (size_t i = at; i < end; ++i) longest = std::max(longest, texts[i].size());
      Tensor ids = torch::zeros({static_cast<int64_t>(end - at), static_cast<int64_t>(longest)}, torch::kLong);
      auto to = ids.accessor<int64_t, 2>();
      for (size_t i = at; i < end; ++i)
        for (size_t k = 0; k < texts[i].size(); ++k) to[i - at][k] = texts[i][k];
      const Tensor input = ids.slice(1, 0, -1), target = ids.slice(1, 1);
      const Tensor mask = target.ne(0).to(torch::kFloat64);
      const Tensor each = torch::nn::functional::cross_entropy(head(embed(input)).reshape({-1, 10}), target.reshape(-1), torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
      const Tensor loss = (each.view_as(target) * mask).sum() / mask.sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const auto n = mask.sum().item<int64_t>();
      sum += loss.item<double>() * n;
      tokens += n;
    }
    std::printf("%d %.9f over %ld\n", epoch, std::exp(sum / tokens), static_cast<long>(tokens));
  }
  return 0;
}
