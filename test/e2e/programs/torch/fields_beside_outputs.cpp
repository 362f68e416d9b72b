// e2e: name=mini_batches; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=mini_batches_of_one_row_each; modes=global; args=2 0.05; ranks=1,2; timeout=120
// e2e: name=sampled; cxx=-DFORM=1; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=collected; cxx=-DFORM=2; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=collected_one_row_each; cxx=-DFORM=2; modes=global; args=2 0.05; ranks=1,2; timeout=120
// form: a field of a mini-batch that no loss reads, `(values - batch.old_values).abs()`, cut as the fields beside it
// form: what the model said when samples were collected, stack(buffer.logs), beside lists that grow with it
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

struct Batch {
  Tensor states, returns, old_values, at;
};

class Store {
 public:
  explicit Store(int64_t n) : states_(torch::randn({n, 4})), returns_(torch::randn({n, 1})), values_(torch::zeros({n, 1})), chances_(torch::ones({n})) {}
  std::vector<Batch> all(int64_t size) const {
    auto order = torch::randperm(states_.size(0), torch::kLong);
    std::vector<Batch> out;
    for (int64_t i = 0; i < states_.size(0); i += size) {
      auto at = order.slice(0, i, i + size);
      out.push_back({states_.index_select(0, at), returns_.index_select(0, at), values_.index_select(0, at), at});
    }
    return out;
  }
  Batch sample(int64_t size) const {
    auto at = torch::multinomial(chances_, size, true);
    return {states_.index_select(0, at), returns_.index_select(0, at), values_.index_select(0, at), at};
  }
  void weigh(const Tensor& errors, const Tensor& at) { chances_.index_put_({at}, errors); }
  double chances() const { return chances_.sum().item<double>(); }

 private:
  Tensor states_, returns_, values_, chances_;
};

struct Collected {
  void add(const Tensor& state, const Tensor& log, int action) {
    states.push_back(state);
    logs.push_back(log);
    actions.push_back(action);
  }
  void clear() {
    states.clear();
    logs.clear();
    actions.clear();
  }
  std::vector<Tensor> states, logs;
  std::vector<int> actions;
};

int main(int argc, char** argv) {
  (void)argc;
  const int64_t size = std::atoll(argv[1]);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(37);
  Store store(44);
  torch::nn::Linear net(4, FORM == 2 ? 3 : 1);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
#if FORM == 0
  for (int epoch = 0; epoch < 2; ++epoch) {
    double gap = 0;
    for (const auto& batch : store.all(size)) {
      auto values = net(batch.states);
      auto loss = torch::mse_loss(values, batch.returns);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      gap += (values.detach() - batch.old_values).abs().mean().item<double>();
    }
    std::printf("%d gap %.10f\n", epoch, gap);
  }
#elif FORM == 1
  for (int step = 0; step < 6; ++step) {
    auto batch = store.sample(size);
    auto values = net(batch.states);
    auto loss = torch::mse_loss(values, batch.returns);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    store.weigh(torch::pow((values.detach() - batch.old_values).abs().squeeze(1), 0.6).clamp_min(1e-8), batch.at);
    std::printf("%d %.10f %.10f\n", step, loss.item<double>(), store.chances());
  }
#else
  Collected kept;
  for (int k = 0; k < 6 * size; ++k) {
    auto state = torch::sin(torch::arange(4) * 0.3 + k);
    Tensor log;
    {
      torch::NoGradGuard guard;
      log = torch::log_softmax(net(state), 0)[k % 3];
    }
    kept.add(state, log, k % 3);
    if ((k + 1) % size != 0) continue;
    auto states = torch::stack(kept.states), before = torch::stack(kept.logs);
    auto actions = torch::tensor(kept.actions).to(torch::kLong).view({-1, 1});
    auto now = torch::log_softmax(net(states), 1).gather(1, actions).squeeze(1);
    auto loss = -(torch::exp(now - before) * torch::cos(states.sum(1))).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%d %.10f\n", k, loss.item<double>());
    kept.clear();
  }
#endif
}
