// e2e: scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=60
// Products written letter by letter, attention among them; the value that an index picks in each row; norms and differences within a sample.
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

struct AttentionImpl : torch::nn::Module {
  explicit AttentionImpl(int64_t width) : q(register_module("q", torch::nn::Linear(width, width))), k(register_module("k", torch::nn::Linear(width, width))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    auto heads = [&](const torch::Tensor& t) { return t.view({t.size(0), t.size(1), 2, -1}); };
    auto scores = torch::einsum("nqhd,nkhd->nhqk", {heads(q->forward(x)), heads(k->forward(x))}) / std::sqrt(2.0);
    auto seen = torch::einsum("nhqk, nkhd -> nqhd", {torch::softmax(scores, -1), heads(x)});
    return seen.reshape({x.size(0), x.size(1), -1});
  }
  torch::nn::Linear q, k;
};
TORCH_MODULE(Attention);

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  auto sequences = torch::rand({50, 3, 4}, torch::kDouble);
  auto actions = torch::randint(0, 2, {50});
  Attention attention(4);
  torch::nn::Linear head(4, 2);
  attention->to(torch::kDouble), head->to(torch::kDouble);
  auto mixing = torch::rand({2, 2}, torch::kDouble).requires_grad_();
  std::vector<torch::Tensor> parameters = attention->parameters();
  for (auto& p : head->parameters()) parameters.push_back(p);
  parameters.push_back(mixing);
  torch::optim::SGD optimizer(parameters, rate);
  std::cout << std::setprecision(12);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto order = torch::randperm(50);
    double together = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      auto rows = order.slice(0, i, std::min<int64_t>(i + batch, 50));
      auto x = sequences.index_select(0, rows), a = actions.index_select(0, rows);
      auto out = torch::addmm(head->bias, attention->forward(x).mean(1), head->weight.t());
      auto mixed = torch::einsum("ij,bj->bi", {mixing, out});
      auto chosen = mixed.index({torch::arange(mixed.size(0)), a});
      auto loss = (chosen - 1).pow(2).mean() + torch::einsum("bi,bi->", {out, out}) / x.size(0) + torch::linalg::vector_norm(out, 2, {1}, false, torch::nullopt).mean() +
                  torch::diff(out, 1, 1).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      together += torch::einsum("bi,bj->ij", {out, out}).sum().item<double>();
    }
    std::cout << epoch << ": " << together << "\n";
  }
  torch::save(attention, "attention.pt");
  torch::save(head, "head.pt");
  torch::save(mixing, "mixing.pt");
}
