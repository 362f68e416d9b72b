// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a cursor that has moved on when the batch is cut, bounds by ternary, by `if`, by std::exchange
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

using Pair = std::pair<torch::Tensor, torch::Tensor>;

struct Source {
  torch::Tensor x, y, order;
  int64_t size, at = 0;
  Source(torch::Tensor xs, torch::Tensor ys, int64_t batch) : x(xs), y(ys), size(batch) {}
  void reset() {
    at = 0;
    order = torch::randperm(x.size(0));
  }
  bool has_next() const { return at < x.size(0); }
};

struct ByMinimum : Source {
  using Source::Source;
  Pair next() {
    const int64_t from = at;
    at = std::min(at + size, x.size(0));
    return {x.slice(0, from, at), y.slice(0, from, at)};
  }
};

struct ByCondition : Source {
  using Source::Source;
  Pair next() {
    int64_t start = at;
    at += size;
    if (at > x.size(0)) at = x.size(0);
    auto rows = order.slice(0, start, at);
    return {x.index_select(0, rows), y.index_select(0, rows)};
  }
};

struct ByExchange : Source {
  using Source::Source;
  Pair next() {
    const auto from = std::exchange(at, std::min(at + size, x.size(0)));
    return {x.slice(0, from, at), y.slice(0, from, at)};
  }
};

struct ByTernary : Source {
  using Source::Source;
  Pair next() {
    const int64_t from = at;
    const int64_t to = from + size < x.size(0) ? from + size : x.size(0);
    at = to;
    return {x.slice(0, from, to), y.slice(0, from, to)};
  }
};

struct ByCutEnd : Source {
  using Source::Source;
  Pair next() {
    const int64_t from = at;
    int64_t to = from + size;
    if (to > x.size(0)) to = x.size(0);
    auto out = std::make_pair(x.slice(0, from, to), y.slice(0, from, to));
    at = to;
    return out;
  }
};

template <class S>
void train(const char* name, S source, double rate) {
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    int64_t rows = 0;
    source.reset();
    while (source.has_next()) {
      auto [x, y] = source.next();
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net(x), y);
      sum += loss.template item<double>() * x.size(0);
      rows += x.size(0);
      loss.backward();
      optimizer.step();
    }
    std::printf("%s %d %.9f %lld\n", name, epoch, sum / rows, static_cast<long long>(rows));
  }
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const auto xs = torch::randn({43, 3}), ys = torch::randn({43, 1});
  train("minimum", ByMinimum(xs, ys, batch), rate);
  train("condition", ByCondition(xs, ys, batch), rate);
  train("exchange", ByExchange(xs, ys, batch), rate);
  train("ternary", ByTernary(xs, ys, batch), rate);
  train("cut end", ByCutEnd(xs, ys, batch), rate);
  return 0;
}
