// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; ranks=1,2,3; timeout=60
// Batches that a class of the program's own made long before: handed out one by one, in a range-for, by iterators of a list,
// and moved out of a queue of pointers.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

namespace F = hvd::nn::functional;

struct Batch {
  hvd::Tensor x, y;
};

class Batches {
 public:
  Batches(const hvd::Tensor& x, const hvd::Tensor& y, std::int64_t size) {
    for (std::int64_t at = 0; at < x.size(0); at += size) {
      const auto end = std::min(at + size, x.size(0));
      all_.push_back({x.slice(0, at, end), y.slice(0, at, end)});
    }
  }
  bool done() const { return at_ == all_.size(); }
  const Batch& next() { return all_[at_++]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<Batch> all_;
  std::size_t at_ = 0;
};

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  const auto x = hvd::randn({46, 5}), y = hvd::randint(3, {46});
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  Batches batches(x, y, 8);
  double sum = 0;
  std::int64_t right = 0;
  while (!batches.done()) {
    const Batch& batch = batches.next();
    const auto out = net->forward(batch.x);
    auto loss = F::cross_entropy(out, batch.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    right += (out.argmax(1) == batch.y).sum().item<std::int64_t>();
  }
  std::printf("handed out %.10f %ld\n", sum, static_cast<long>(right));
  sum = 0;
  for (const auto& batch : batches) {
    auto loss = F::cross_entropy(net->forward(batch.x), batch.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  std::printf("in a range %.10f\n", sum);
  std::vector<Batch> list(batches.begin(), batches.end());
  sum = 0;
  for (auto it = list.begin(); it != list.end(); ++it) {
    auto loss = F::cross_entropy(net->forward(it->x), it->y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  std::printf("iterators %.10f\n", sum);
  std::deque<std::unique_ptr<Batch>> queue;
  for (const auto& batch : batches) queue.push_back(std::make_unique<Batch>(batch));
  sum = 0;
  while (!queue.empty()) {
    const auto batch = std::move(queue.front());
    queue.pop_front();
    auto loss = F::cross_entropy(net->forward(batch->x), batch->y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  std::printf("queue %.10f\n", sum);
  hvd::save(net, "net.safetensors");
}
