// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: tokens of all samples in one dimension, as many as the size of the batch times a length: view({batch * length, terms})
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const int64_t length = 5, terms = 7;
  const auto tokens = torch::randint(terms, {72, length + 1});
  torch::nn::Embedding embed(terms, 6);
  torch::nn::Linear head(6, terms);
  auto parameters = embed->parameters();
  for (const auto& p : head->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    int batches = 0;
    for (int64_t at = 0; at + batch <= tokens.size(0); at += batch) {
      const auto x = tokens.slice(0, at, at + batch).slice(1, 0, length), y = tokens.slice(0, at, at + batch).slice(1, 1, length + 1);
      auto logits = head(embed(x)).view({batch, length, terms});
      logits = logits.view({batch * length, terms});
      const auto targets = y.reshape({batch * length});
      const auto loss = torch::nn::functional::cross_entropy(logits, targets);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      ++batches;
    }
    std::printf("epoch %d loss %.9f\n", epoch, total / batches);
  }
  return 0;
}
