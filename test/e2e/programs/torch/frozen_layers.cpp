// SPDX-License-Identifier: Apache-2.0
// e2e: hvdize=--sync-bn; args=; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: a network that is not trained any more, but in training mode, in front of trained layers; what a layer gives is changed in place
// Batch norm over the global batch: that of layers without an optimizer, too.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct RowsImpl : torch::nn::Module {
  RowsImpl() {
    in = torch::nn::Linear(5, 6);
    norm = torch::nn::BatchNorm1d(6);
    register_module("in", in);
    register_module("norm", norm);
  }
  torch::Tensor forward(torch::Tensor x) {
    auto out = in->forward(x);
    out = norm->forward(out).tanh_();
    return out;
  }
  torch::nn::Linear in{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Rows);

struct NetImpl : torch::nn::Module {
  NetImpl() {
    rows = Rows();
    register_module("rows", rows);
    last = register_module("last", torch::nn::Sequential(torch::nn::Linear(6, 3)));
    for (auto& p : rows->parameters()) p.requires_grad_(false);
  }
  torch::Tensor forward(torch::Tensor x) { return last->forward(rows->forward(x).mul_(2).relu_()); }
  Rows rows{nullptr};
  torch::nn::Sequential last{nullptr};
};
TORCH_MODULE(Net);

struct Samples : torch::data::datasets::Dataset<Samples> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 48; }
  torch::Tensor x = torch::sin(torch::arange(48 * 5, torch::kFloat64).view({48, 5})), y = torch::arange(48).remainder(3);
};

template <class Loader>
void train(Net& net, torch::optim::Optimizer& optimizer, Loader& loader, const char* name) {
  net->train();
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    for (auto& b : loader) {
      auto loss = torch::nn::functional::cross_entropy(net->forward(b.data), b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.template item<double>() * static_cast<double>(b.data.size(0));
    }
    std::printf("%s, epoch %d: %.12f\n", name, epoch, sum / 48);
  }
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Samples().map(torch::data::transforms::Stack<>()), batch);
  Net net;
  net->to(torch::kFloat64);
  {  // the optimizer of a list, which says nothing of the model
    std::vector<torch::Tensor> trained;
    for (auto& p : net->named_parameters())
      if (p.value().requires_grad()) trained.push_back(p.value());
    torch::optim::SGD optimizer(trained, rate);
    train(net, optimizer, *loader, "list");
  }
  {  // and of a part of the network
    torch::optim::SGD optimizer(net->last->parameters(), rate);
    train(net, optimizer, *loader, "part");
  }
  torch::save(net, "net.pt");
}
