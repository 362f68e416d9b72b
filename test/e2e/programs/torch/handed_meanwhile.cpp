// e2e: name=made_by_async_meanwhile; cxx=-DFORM=1; modes=global; args=; ranks=1,2,3; timeout=120; warns=HVD2010
// e2e: name=fetched_in_the_head; cxx=-DFORM=2; modes=global; args=; ranks=1,2,3; timeout=120
// e2e: name=handed_by_a_prefetcher; cxx=-DFORM=3; modes=global; args=; ranks=1,2,3; timeout=120
// Batches that are fetched for the next step, and shared out where a step reads them.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <utility>

struct Batch {
  torch::Tensor x, y;
  bool ok() const { return x.defined(); }
};

struct Source {
  torch::Tensor x = torch::randn({43, 3}), y = torch::randn({43, 1});
  int64_t at = 0;
  Batch next() {
    if (at >= 43) return {};
    const auto from = at;
    at = std::min<int64_t>(at + 8, 43);
    return {x.slice(0, from, at), y.slice(0, from, at)};
  }
  std::pair<torch::Tensor, torch::Tensor> pair(int64_t from) const { return {x.slice(0, from, std::min<int64_t>(from + 8, 43)), y.slice(0, from, std::min<int64_t>(from + 8, 43))}; }
};

struct Prefetcher {
  Source source;
  Batch ahead;
  void preload() { ahead = source.next(); }
  Batch next() {
    auto now = ahead;
    preload();
    return now;
  }
};

int main() {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 2; ++epoch) {
#if FORM == 1
    Source source;
    auto next = std::async(std::launch::async, [&] { return source.pair(0); });
    for (int64_t i = 0; i < 43; i += 8) {
      auto batch = next.get();
      next = std::async(std::launch::async, [&source, i] { return source.pair(std::min<int64_t>(i + 8, 42)); });
      const auto loss = torch::mse_loss(net(batch.first), batch.second);
#elif FORM == 2
    Source source;
    for (auto batch = source.next(); batch.ok(); batch = source.next()) {
      const auto loss = torch::mse_loss(net(batch.x), batch.y);
#else
    Prefetcher prefetcher;
    prefetcher.preload();
    for (int64_t i = 0; i < 43; i += 8) {
      auto batch = prefetcher.next();
      const auto loss = torch::mse_loss(net(batch.x), batch.y);
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%.9f\n", loss.item<double>());
    }
  }
  torch::save(net, "net.pt");
}
