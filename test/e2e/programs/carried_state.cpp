// e2e: modes=global; ranks=1,2,3; timeout=60
// A recurrent language model over streams of text, cut into windows: its state goes from window to window, and begins as zeros for all streams.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace nn = hvd::nn;
using hvd::Tensor;

constexpr int64_t kLetters = 28, kWidth = 12;

struct RecurrentImpl : nn::Module {
  RecurrentImpl()
      : embed(register_module("embed", nn::Embedding(kLetters, kWidth))),
        in(register_module("in", nn::Linear(kWidth, kWidth))),
        again(register_module("again", nn::Linear(kWidth, kWidth))),
        head(register_module("head", nn::Linear(kWidth, kLetters))) {}
  std::pair<Tensor, Tensor> forward(const Tensor& letters, Tensor state) {
    Tensor x = embed(letters);
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < letters.size(1); ++t) {
      state = (in(x.select(1, t)) + again(state)).tanh();
      outputs.push_back(head(state));
    }
    return {hvd::stack(outputs, 1), state};
  }
  nn::Embedding embed;
  nn::Linear in, again, head;
};
HVD_MODULE(Recurrent);

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(6);
  const int64_t streams = 4, window = 7;
  std::string text;
  for (int i = 0; i < 24; ++i) text += i % 3 ? "the cat sat. " : "a dog ran off; ";
  std::vector<int64_t> ids;
  for (char c : text) ids.push_back(c == ' ' ? 26 : c >= 'a' && c <= 'z' ? c - 'a' : 27);
  const int64_t length = static_cast<int64_t>(ids.size()) / streams;
  ids.resize(static_cast<size_t>(length * streams));
  Tensor stream = hvd::tensor(ids).view({streams, length});
  Recurrent net;
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    Tensor state = hvd::zeros({streams, kWidth});
    double sum = 0;
    int64_t letters = 0;
    for (int64_t t = 0; t + 1 < length; t += window) {
      const int64_t many = std::min(window, length - 1 - t);
      state = state.detach();
      Tensor x = stream.slice(1, t, t + many), y = stream.slice(1, t + 1, t + 1 + many);
      auto [scores, next] = net->forward(x, state);
      state = next;
      Tensor loss = nn::functional::cross_entropy(scores.reshape({-1, kLetters}), y.reshape({-1}));
      optimizer.zero_grad();
      loss.backward();
      nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(x.numel());
      letters += x.numel();
    }
    std::printf("epoch %d: %.9f over %ld\n", epoch, sum / static_cast<double>(letters), static_cast<long>(letters));
  }
  hvd::save(net, "net.safetensors");
}
