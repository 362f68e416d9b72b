// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Rows that a step takes by position from what is whole, and that meet samples in a number that is only shown; the outputs of a model in a record
// that is declared in front of the loop.
// form: rows taken by the positions of the batch, for a metric only
// form: a record of tensors declared in front of the loop
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

struct Outputs {
  torch::Tensor scores, code;
};

struct NetImpl : torch::nn::Module {
  torch::nn::Linear encode, decode;
  NetImpl() : encode(4, 6), decode(6, 3) {
    register_module("encode", encode);
    register_module("decode", decode);
  }
  Outputs forward(const torch::Tensor& x) {
    auto code = torch::tanh(encode(x));
    return {decode(code), code};
  }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t samples = 53, batch = std::stoll(argv[1]);
  torch::manual_seed(5);
  auto x = torch::randn({samples, 4}, torch::kDouble), y = x.slice(1, 0, 3).argmax(1);
  auto worth = torch::rand({samples}, torch::kDouble), cost = torch::rand({samples, 3}, torch::kDouble), table = torch::rand({16, 3}, torch::kDouble);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), std::stod(argv[2]));
  std::cout << std::setprecision(10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    Outputs out;
    double gained = 0, spent = 0, even = 0, listed = 0, total = 0;
    for (int64_t i = 0; i < samples; i += batch) {
      const int64_t end = std::min(i + batch, samples);
      auto bx = x.slice(0, i, std::min(i + batch, samples)), by = y.slice(0, i, std::min(i + batch, samples));
      out = net->forward(bx);
      auto loss = torch::nn::functional::cross_entropy(out.scores, by) + 0.01 * out.code.abs().mean();
      opt.zero_grad();
      loss.backward();
      opt.step();
      total += loss.item<double>() * static_cast<double>(end - i);
      auto right = out.scores.argmax(1) == by;
      auto at = torch::arange(i, end, torch::kLong);
      gained += (worth.index_select(0, at) * right).sum().item<double>();
      spent += (cost.narrow(0, i, end - i) * torch::softmax(out.scores, 1)).sum().item<double>();
      even += (right & (at % 2 == 0)).sum().item<double>();
      listed += (table.slice(0, epoch, epoch + 1) * out.scores).sum().item<double>();  // one row of a table, for all samples
    }
    std::cout << epoch << ' ' << total / samples << ' ' << gained << ' ' << spent << ' ' << even << ' ' << listed << '\n';
  }
}
