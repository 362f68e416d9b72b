// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Truncated back-propagation through time: a step for each window of a batch's sequences, whose length says how many there are. A second pass has the
// length in a variable.
// form: windows of time up to an extent of a loader's batch, with a step in each
#include <torch/torch.h>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <tuple>

struct Waves : torch::data::Dataset<Waves> {
  torch::Tensor x, y;
  Waves() {
    torch::manual_seed(5);
    x = torch::randn({60, 23, 3}, torch::kFloat64);
    y = x.cumsum(1).sum(2, true).tanh();
  }
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  c10::optional<size_t> size() const override { return 60; }
};

struct NetImpl : torch::nn::Module {
  NetImpl() : rnn(register_module("rnn", torch::nn::LSTM(torch::nn::LSTMOptions(3, 6).batch_first(true)))), head(register_module("head", torch::nn::Linear(6, 1))) {}
  torch::nn::LSTM rnn;
  torch::nn::Linear head;
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  const int64_t window = 10;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves().map(torch::data::transforms::Stack<>()), batch_size);
  torch::manual_seed(11);
  Net net;
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), lr);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    int steps = 0;
    for (auto& batch : *loader) {
      std::tuple<torch::Tensor, torch::Tensor> state;
      bool first = true;
      for (int64_t t = 0; t < batch.data.size(1); t += window) {
        const int64_t length = std::min(window, batch.data.size(1) - t);
        auto x = batch.data.narrow(1, t, length);
        auto y = batch.target.narrow(1, t, length);
        torch::Tensor out;
        if (first) {
          auto [o, s] = net->rnn->forward(x);
          out = o;
          state = s;
          first = false;
        } else {
          state = std::make_tuple(std::get<0>(state).detach(), std::get<1>(state).detach());
          auto [o, s] = net->rnn->forward(x, state);
          out = o;
          state = s;
        }
        auto loss = torch::mse_loss(net->head->forward(out), y);
        optimizer.zero_grad();
        loss.backward();
        torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
        optimizer.step();
        total += loss.item<double>();
        ++steps;
      }
    }
    std::cout << epoch << " " << total / steps << "\n";
  }
  for (auto& batch : *loader) {
    const int64_t length = batch.data.size(1), half = length / 2;
    for (int64_t t = 0; t < length; t += half) {
      auto part = batch.data.slice(1, t, std::min(length, t + half));
      auto loss = torch::mse_loss(net->head->forward(std::get<0>(net->rnn->forward(part))), batch.target.slice(1, t, std::min(length, t + half)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  torch::save(net, "net.pt");
}
