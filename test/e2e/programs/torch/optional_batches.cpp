// e2e: name=optional_batches_1; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=optional_batches_2; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=optional_batches_3; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=optional_batches_4; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: an optional pair from a source of the program's own: bound from *batch and batch.value() in a while loop
// form: an optional or a pointer that ends the loop by a break: !batch, has_value(), == std::nullopt, == nullptr
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

struct Batch {
  torch::Tensor x, y;
};

struct Source {
  torch::Tensor x, y;
  int64_t size, at = 0;
  std::optional<std::pair<torch::Tensor, torch::Tensor>> next() {
    if (at >= x.size(0)) {
      at = 0;
      return std::nullopt;
    }
    const auto from = at;
    at = std::min(at + size, x.size(0));
    return std::make_pair(x.slice(0, from, at), y.slice(0, from, at));
  }
  std::unique_ptr<Batch> fetch(int64_t step) const {
    const auto from = step * size;
    if (from >= x.size(0)) return nullptr;
    const auto to = std::min(from + size, x.size(0));
    return std::make_unique<Batch>(Batch{x.slice(0, from, to), y.slice(0, from, to)});
  }
};

template <class X>
struct Trainer {
  torch::nn::Linear net{3, 1};
  torch::optim::SGD optimizer;
  double total = 0;
  int64_t seen = 0;
  explicit Trainer(X rate) : optimizer(net->parameters(), rate) {}
  void step(const torch::Tensor& x, const torch::Tensor& y) {
    auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.template item<double>() * x.size(0);
    seen += x.size(0);
  }
};

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  Source source{torch::randn({43, 3}), torch::randn({43, 1}), argc > 1 ? std::atoll(argv[1]) : 8};
  Trainer<double> trainer(argc > 2 ? std::atof(argv[2]) : 0.05);
#if FORM == 1
  while (auto batch = source.next()) {
    auto [x, y] = *batch;
    trainer.step(x, y);
  }
  while (auto batch = source.next()) {
    const auto& [x, y] = batch.value();
    trainer.step(x, y);
  }
#elif FORM == 2
  while (true) {
    auto batch = source.next();
    if (!batch) break;
    auto [x, y] = *batch;
    trainer.step(x, y);
  }
#elif FORM == 3
  for (;;) {
    const auto batch = source.next();
    if (!batch.has_value()) break;
    trainer.step(batch->first, batch->second);
  }
  for (;;) {
    const auto batch = source.next();
    if (batch == std::nullopt) break;
    trainer.step(std::get<0>(*batch), std::get<1>(*batch));
  }
#else
  for (int64_t i = 0;; ++i) {
    const auto batch = source.fetch(i);
    if (batch == nullptr) break;
    trainer.step(batch->x, batch->y);
  }
  for (int64_t i = 0;; ++i) {
    auto batch = source.fetch(i);
    if (!batch) break;
    trainer.step(batch->x, batch->y);
  }
#endif
  std::printf("seen %ld loss %.9f\n", long(trainer.seen), trainer.total / trainer.seen);
  torch::save(trainer.net, "net.pt");
  return 0;
}
