// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: an epoch's batches listed by a function of the program, of slices, of pieces or in structs, gone through in order or in a drawn one, for training and, with a size of its own, for evaluation
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

using torch::Tensor;
using Pairs = std::vector<std::pair<Tensor, Tensor>>;

struct Batch {
  Tensor x, y;
};

static Pairs slices(const Tensor& x, const Tensor& y, int64_t rows) {
  Pairs out;
  for (int64_t at = 0; at < x.size(0); at += rows) {
    const int64_t end = std::min(at + rows, x.size(0));
    out.emplace_back(x.slice(0, at, end), y.slice(0, at, end));
  }
  return out;
}

static Pairs pieces(const Tensor& x, const Tensor& y, int64_t rows) {
  const auto xs = x.split(rows), ys = y.split(rows);
  Pairs out;
  for (size_t i = 0; i < xs.size(); ++i) out.push_back({xs[i], ys[i]});
  return out;
}

static std::vector<Batch> structs(const Tensor& x, const Tensor& y, int64_t rows) {
  std::vector<Batch> out;
  for (int64_t at = 0; at < x.size(0); at += rows) out.push_back({x.slice(0, at, std::min(at + rows, x.size(0))), y.slice(0, at, std::min(at + rows, x.size(0)))});
  return out;
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const Tensor x = torch::randn({44, 4}), y = torch::randn({44, 1}), hx = torch::randn({40, 4}), hy = torch::randn({40, 1});
  const Pairs listed = slices(x, y, rows), held = slices(hx, hy, 16);
  std::vector<size_t> drawn(listed.size());
  std::iota(drawn.begin(), drawn.end(), 0);
  std::mt19937 random(4);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0, error = 0;
    std::shuffle(drawn.begin(), drawn.end(), random);
    for (const size_t i : drawn) {
      optimizer.zero_grad();
      torch::mse_loss(net(listed[i].first), listed[i].second).backward();
      optimizer.step();
    }
    for (const auto& [bx, by] : listed) {
      const Tensor loss = torch::mse_loss(net(bx), by);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    const Tensor order = torch::randperm(44);
    for (const auto& pair : pieces(x.index_select(0, order), y.index_select(0, order), rows)) {
      const Tensor loss = torch::mse_loss(net(pair.first), pair.second);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    for (const auto& batch : structs(x, y, rows)) {
      const Tensor loss = torch::mse_loss(net(batch.x), batch.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * batch.x.size(0) / 44;
    }
    torch::NoGradGuard guard;
    for (const auto& [bx, by] : held) error += torch::mse_loss(net(bx), by).item<double>();
    std::printf("%d %.9f held %.9f in %zu, %zu batches\n", epoch, sum, error / held.size(), held.size(), listed.size());
  }
  return 0;
}
