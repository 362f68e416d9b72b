// e2e: name=output_and_state_of_a_holder; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=first_of_output_and_state; cxx=-DFORM=2; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=get_of_output_and_state; cxx=-DFORM=3; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=tied_output_and_state; cxx=-DFORM=4; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=state_of_an_encoder; cxx=-DFORM=5; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=output_and_both_states; cxx=-DFORM=6; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// form: a recurrent model, called through its holder, that returns its output and its state, pairs in pairs
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct NetImpl : torch::nn::Module {
  torch::nn::LSTM lstm{register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(2, 3).batch_first(true)))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(3, 1))};

#if FORM == 4
  std::tuple<torch::Tensor, State> forward(torch::Tensor x, torch::optional<State> state = {}) {
    torch::Tensor out;
    State next;
    std::tie(out, next) = lstm->forward(x, state);
    return std::make_tuple(last->forward(out.select(1, -1)), next);
  }
#elif FORM == 6
  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    auto [out, state] = lstm->forward(x);
    auto [h, c] = state;
    return {last->forward(out.index({torch::indexing::Slice(), -1})), h, c};
  }
#else
  std::pair<torch::Tensor, State> forward(torch::Tensor x, torch::optional<State> state = {}) {
    auto [out, next] = lstm->forward(x, state);
    return {last->forward(out.select(1, 2)), next};
  }
#endif
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto x = torch::randn({43, 3, 2}), y = x.sum({1, 2}).sin().unsqueeze(1);
  Net net, decoder;
  std::vector<torch::Tensor> parameters = net->parameters();
  for (auto& p : decoder->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t i = 0; i < 43; i += batch) {
      const auto xb = x.slice(0, i, i + batch), yb = y.slice(0, i, i + batch);
#if FORM == 1
      auto [out, state] = net(xb);
#elif FORM == 2
      auto out = net(xb).first;
#elif FORM == 3
      auto result = net(xb);
      auto out = std::get<0>(result);
#elif FORM == 4
      torch::Tensor out;
      State state;
      std::tie(out, state) = net(xb);
#elif FORM == 5
      auto [first, state] = net(xb);
      auto [second, none] = decoder(xb.flip({1}), state);
      auto out = first + second;
#elif FORM == 6
      auto [out, h, c] = net(xb);
#endif
      auto loss = torch::mse_loss(out, yb);
#if FORM == 6
      loss = loss + 0.01 * h.pow(2).mean();
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%.9f\n", loss.item<double>());
    }
  }
  torch::save(net, "net.pt");
}
