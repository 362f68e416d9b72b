// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a batch of another loader that steps have a look at, without gradients
// Every few steps the model is shown the next batch of a loader of its own, whose batches keep their size: all ranks look at all of it.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace F = torch::nn::functional;

struct Waves : torch::data::datasets::Dataset<Waves> {
  Waves(double phase, size_t rows) : phase(phase), rows(rows) {}
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor x = torch::sin(torch::arange(6, torch::kDouble) * 0.37 + static_cast<double>(index) * 1.1 + phase);
    return {x, torch::tensor(static_cast<int64_t>(index * 7 % 3), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return rows; }
  double phase;
  size_t rows;
};

struct Score {
  double loss = 0;
  int64_t right = 0, rows = 0;
  Score& operator+=(const Score& other) {
    loss += other.loss;
    right += other.right;
    rows += other.rows;
    return *this;
  }
  void print(const char* what) const { std::printf("%s %.9f %.4f of %ld\n", what, loss / static_cast<double>(rows), static_cast<double>(right) / static_cast<double>(rows), static_cast<long>(rows)); }
};

Score score(const torch::Tensor& out, const torch::Tensor& labels) {
  return {F::cross_entropy(out, labels, F::CrossEntropyFuncOptions().reduction(torch::kSum)).item<double>(), out.argmax(1).eq(labels).sum().item<int64_t>(), labels.size(0)};
}

// The first batch, in a function that steps call.
template <class Loader>
double first_score(torch::nn::Linear& net, Loader& loader) {
  torch::NoGradGuard guard;
  const auto batch = *loader.begin();
  return net->forward(batch.data).argmax(1).eq(batch.target).to(torch::kDouble).mean().template item<double>();
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0, 45).map(torch::data::transforms::Stack<>()), size);
  auto held_out = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(0.5, 20).map(torch::data::transforms::Stack<>()), 6);
  auto drawn = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0.9, 13).map(torch::data::transforms::Stack<>()), 5);
  torch::nn::Linear net(6, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto next = held_out->begin();
  auto other = drawn->begin();
  Score shown;
  int step = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Score trained;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto out = net->forward(batch.data);
      F::cross_entropy(out, batch.target).backward();
      optimizer.step();
      trained += score(out.detach(), batch.target);
      if (++step % 2 == 0) {
        torch::NoGradGuard guard;
        if (next == held_out->end()) next = held_out->begin();
        const Score now = score(net->forward(next->data), next->target);
        ++next;
        now.print("held out");
        shown += now;
        if (other == drawn->end()) other = drawn->begin();
        const torch::Tensor seen = net->forward(other->data);
        ++other;
        std::printf("highest %.9f over %ld\n", seen.max().item<double>(), static_cast<long>(seen.size(0)));
      }
    }
    trained.print("trained");
    torch::NoGradGuard guard;
    Score all;
    for (auto& batch : *held_out) all += score(net->forward(batch.data), batch.target);
    all.print("all held out");
  }
  shown.print("shown");
  // In steps that cut their own batches; without a guard, where no loss that is differentiated knows of it.
  const torch::Tensor x = torch::sin(torch::arange(44 * 6, torch::kDouble) * 0.83).view({44, 6}), y = torch::arange(44).remainder(3);
  auto again = held_out->begin();
  for (int64_t at = 0; at < 44; at += size) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(x.slice(0, at, at + size)), y.slice(0, at, at + size));
    loss.backward();
    optimizer.step();
    if (again == held_out->end()) again = held_out->begin();
    score(net->forward(again->data), again->target).print("beside");
    ++again;
    std::printf("first %.9f\n", first_score(net, *drawn));
  }
}
