// e2e: modes=global; ranks=1,2,3; timeout=60
// A language model over columns of a matrix of token numbers: each step cuts a window of time, not rows, and carries the state on.
// form: windows of time, state carried on
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <vector>

using torch::indexing::Slice;

int main() {
  const int64_t rows = 4, window = 5, words = 11, width = 6;
  torch::manual_seed(11);
  auto tokens = torch::randint(words, {rows, 41}, torch::kLong);
  torch::nn::Embedding embedding(words, width);
  torch::nn::Linear mix(width, width), output(width, words);
  std::vector<torch::Tensor> parameters;
  for (auto* module : std::vector<torch::nn::Module*>{embedding.get(), mix.get(), output.get()}) module->to(torch::kDouble);
  for (auto& layer : {embedding->parameters(), mix->parameters(), output->parameters()})
    parameters.insert(parameters.end(), layer.begin(), layer.end());
  torch::optim::SGD optimizer(parameters, 0.1);
  auto state = torch::zeros({rows, width}, torch::kDouble);
  for (int64_t i = 0; i + window < tokens.size(1); i += window) {
    auto in = tokens.index({Slice(), Slice(i, i + window)});
    auto next = tokens.index({Slice(), Slice(i + 1, i + 1 + window)}).reshape(-1);
    auto hidden = torch::tanh(mix(embedding(in)) + state.unsqueeze(1));
    state = hidden.index({Slice(), -1}).detach();
    auto loss = torch::nn::functional::cross_entropy(output(hidden).reshape({-1, words}), next);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << std::setprecision(9) << loss.item<double>() << "\n";
  }
  return 0;
}
