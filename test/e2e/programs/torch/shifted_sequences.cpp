// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Time first: inputs are all tokens but the last, targets all but the first, padding left out of the mean.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

using torch::indexing::None;
using torch::indexing::Slice;

struct NetImpl : torch::nn::Module {
  NetImpl() : embed(register_module("embed", torch::nn::Embedding(7, 5))), cell(register_module("cell", torch::nn::GRU(5, 5))), head(register_module("head", torch::nn::Linear(5, 7))) {}
  torch::Tensor forward(const torch::Tensor& tokens) { return head->forward(std::get<0>(cell->forward(embed->forward(tokens)))); }
  torch::nn::Embedding embed;
  torch::nn::GRU cell;
  torch::nn::Linear head;
};
TORCH_MODULE(Net);

struct Texts : torch::data::datasets::Dataset<Texts> {
  torch::Tensor tokens = torch::randint(0, 7, {30, 6}, torch::kLong);
  torch::data::Example<> get(size_t i) override { return {tokens[static_cast<int64_t>(i)], tokens[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 30; }
};

int main(int argc, char** argv) {
  const int64_t batch_size = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  Texts texts;
  Net net;
  net->to(torch::kDouble);
  torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().ignore_index(0));
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(texts.map(torch::data::transforms::Stack<>()), batch_size);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      auto tokens = batch.target.transpose(0, 1);
      auto inputs = tokens.index({Slice(None, -1, None)}), wanted = tokens.index({Slice(1, None), Slice()});
      auto logits = net->forward(inputs);
      auto loss = criterion(logits.reshape({-1, logits.size(2)}), wanted.reshape({-1}));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::cout << std::setprecision(10) << epoch << ": " << sum << "\n";
  }
  torch::save(net, "net.pt");
}
