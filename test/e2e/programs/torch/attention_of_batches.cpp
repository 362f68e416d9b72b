// e2e: name=attention_by_matmul; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=attention_by_transpose; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=attention_by_letters; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: self-attention by matmul and transpose(-2, -1) of rows whose dimensions the data set shows
// form: self-attention by matmul and transpose(1, 2) of rows whose dimensions the data set shows
// form: self-attention by einsum, and a matmul with its result
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

struct Sequences : torch::data::datasets::Dataset<Sequences> {
  torch::Tensor x = torch::randn({43, 5, 8}), y = torch::randint(3, {43}, torch::kLong);
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 43; }
};

struct NetImpl : torch::nn::Module {
  torch::nn::Linear q{register_module("q", torch::nn::Linear(8, 8))}, k{register_module("k", torch::nn::Linear(8, 8))};
  torch::nn::Linear v{register_module("v", torch::nn::Linear(8, 8))}, head{register_module("head", torch::nn::Linear(8, 3))};
  torch::Tensor forward(torch::Tensor x) {
#if FORM == 1
    auto scores = torch::matmul(q(x), k(x).transpose(-2, -1));
#elif FORM == 2
    auto scores = q(x).matmul(k(x).transpose(1, 2));
#else
    auto scores = torch::einsum("btc,bsc->bts", {q(x), k(x)});
#endif
    auto weights = torch::softmax(scores / std::sqrt(8.0), -1);
    return head(torch::matmul(weights, v(x)).mean(1));
  }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Sequences().map(torch::data::transforms::Stack<>()), argc > 1 ? std::atoi(argv[1]) : 8);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%.9f\n", loss.item<double>());
    }
  torch::save(net, "net.pt");
  return 0;
}
