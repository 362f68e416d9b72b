// e2e: modes=global; ranks=1,2,3; timeout=90
// Language models over streams of tokens that lie one below another: each step takes a window of all streams, and the states of the recurrent
// layers are handed on to the next window. They begin as zeros for all streams: in variables, in a tuple, in a member, behind a reference.
// form: hidden state carried from batch to batch, begun in front of the loop
// form: windows of all rows of a tensor
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <tuple>

const int64_t kWords = 11, kWidth = 6, kStreams = 5, kLength = 40, kWindow = 7;

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct LstmModelImpl : torch::nn::Module {
  LstmModelImpl()
      : embed(register_module("embed", torch::nn::Embedding(kWords, kWidth))),
        lstm(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(kWidth, kWidth).num_layers(2).batch_first(true)))),
        head(register_module("head", torch::nn::Linear(kWidth, kWords))) {}
  std::tuple<torch::Tensor, State> forward(torch::Tensor x, State state) {
    x = embed->forward(x);
    torch::Tensor out;
    std::forward_as_tuple(out, state) = lstm->forward(x, state);
    out = head->forward(out.reshape({-1, out.size(2)}));
    return std::make_tuple(out, state);
  }
  torch::nn::Embedding embed{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(LstmModel);

struct GruModelImpl : torch::nn::Module {
  GruModelImpl()
      : embed(register_module("embed", torch::nn::Embedding(kWords, kWidth))),
        gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(kWidth, kWidth).batch_first(true)))),
        head(register_module("head", torch::nn::Linear(kWidth, kWords))) {}
  void reset(int64_t streams) { state = torch::zeros({1, streams, kWidth}, torch::kDouble); }
  torch::Tensor forward(torch::Tensor x) {
    auto [out, next] = gru->forward(embed->forward(x), state);
    state = next.detach();
    return head->forward(out);
  }
  torch::nn::Embedding embed{nullptr};
  torch::nn::GRU gru{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor state;
};
TORCH_MODULE(GruModel);

torch::Tensor loss_of(const torch::Tensor& out, const torch::Tensor& next) {
  return torch::nn::functional::cross_entropy(out.reshape({-1, kWords}), next.reshape(-1));
}

double windows(GruModel& model, torch::optim::Optimizer& optimizer, const torch::Tensor& ids, torch::Tensor& trace) {
  double sum = 0;
  for (int64_t i = 0; i + kWindow < ids.size(1); i += kWindow) {
    auto out = model->forward(ids.slice(1, i, i + kWindow)) + 0.1 * trace.unsqueeze(1);
    trace = out.detach().mean(1);
    auto loss = loss_of(out, ids.slice(1, i + 1, i + 1 + kWindow));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  return sum;
}

int main() {
  torch::manual_seed(3);
  auto ids = torch::randint(kWords, {kStreams * kLength}, torch::kLong).reshape({kStreams, -1});
  LstmModel first;
  GruModel second;
  first->to(torch::kDouble);
  second->to(torch::kDouble);
  torch::optim::Adam one(first->parameters(), torch::optim::AdamOptions(0.02));
  torch::optim::SGD two(second->parameters(), 0.1);
  std::cout << std::setprecision(9);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    int64_t streams = 0;
    auto h = torch::zeros({2, kStreams, kWidth}, torch::kDouble), c = torch::zeros({2, kStreams, kWidth}, torch::kDouble);
    for (int64_t i = 0; i < ids.size(1) - kWindow; i += kWindow) {
      auto data = ids.slice(1, i, i + kWindow), target = ids.slice(1, i + 1, i + 1 + kWindow).reshape(-1);
      torch::Tensor out;
      std::forward_as_tuple(out, std::forward_as_tuple(h, c)) = first->forward(data, std::make_tuple(h, c));
      h = h.detach();
      c = c.detach();
      auto loss = torch::nn::functional::cross_entropy(out, target);
      sum += loss.item<double>() * data.size(0);
      streams += data.size(0);
      one.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(first->parameters(), 0.5);
      one.step();
    }
    std::cout << "lstm " << sum / streams << '\n';

    State state{torch::zeros({2, kStreams, kWidth}, torch::kDouble), torch::zeros({2, kStreams, kWidth}, torch::kDouble)};
    for (int64_t i = 0; i + kWindow < kLength; i += kWindow) {
      using torch::indexing::Slice;
      auto data = ids.index({Slice(), Slice(i, i + kWindow)});
      auto [out, next] = first->forward(data, state);
      state = State(std::get<0>(next).detach(), std::get<1>(next).detach());
      auto loss = loss_of(out, ids.index({Slice(), Slice(i + 1, i + 1 + kWindow)}));
      one.zero_grad();
      loss.backward();
      one.step();
      sum += loss.item<double>();
    }
    std::cout << "lstm, states in a tuple " << sum << '\n';

    second->reset(kStreams);
    auto trace = torch::zeros({kStreams, kWords}, torch::kDouble);
    std::cout << "gru " << windows(second, two, ids, trace) << '\n';
    torch::NoGradGuard no_grad;
    second->reset(kStreams);
    std::cout << "held " << second->forward(ids).abs().sum().item<double>() << '\n';
  }
}
