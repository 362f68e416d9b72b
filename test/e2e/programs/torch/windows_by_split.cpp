// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: truncated back-propagation over the parts that split() makes of a batch along time
// SPDX-License-Identifier: Apache-2.0
//
// Each part is a step of its own: ranks compare how many there are.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct Pairs : torch::data::datasets::Dataset<Pairs> {
  torch::Tensor x, y;
  Pairs(torch::Tensor a, torch::Tensor b) : x(a), y(b) {}
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
};
struct NetImpl : torch::nn::Module {
  torch::nn::GRU gru{nullptr};
  torch::nn::Linear out{nullptr};
  NetImpl() {
    gru = register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(3, 8).batch_first(true)));
    out = register_module("out", torch::nn::Linear(8, 1));
  }
};
TORCH_MODULE(Net);
int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(4);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), lr);
  auto data = Pairs(torch::randn({45, 12, 3}), torch::randn({45, 12, 1})).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(data), torch::data::DataLoaderOptions().batch_size(batch));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    int64_t n = 0;
    for (auto& b : *loader) {
      auto xs = b.data.split(4, 1);
      auto ys = b.target.split(4, 1);
      torch::Tensor h;
      for (size_t i = 0; i < xs.size(); ++i) {
        optimizer.zero_grad();
        auto [o, hn] = h.defined() ? net->gru->forward(xs[i], h) : net->gru->forward(xs[i]);
        auto loss = torch::mse_loss(net->out->forward(o), ys[i]);
        loss.backward();
        optimizer.step();
        h = hn.detach();
        total += loss.item<double>();
        ++n;
      }
    }
    std::printf("epoch %d loss %.10f\n", epoch, total / n);
  }
  torch::save(net, "net.pt");
}
