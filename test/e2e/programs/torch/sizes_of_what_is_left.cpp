// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: batches of as many rows as are left: counted down, by a ternary, by the distance of two iterators
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({45, 5}), ys = torch::sin(xs.sum(1, true));
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  int64_t at = 0;
  for (int64_t left = 45; left > 0;) {
    const int64_t rows = std::min(batch, left);
    const auto x = xs.slice(0, at, at + rows), y = ys.slice(0, at, at + rows);
    at += rows;
    left -= rows;
    const auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("left %lld %.9f\n", static_cast<long long>(left), loss.item<double>());
  }
  int64_t remaining = 45;
  for (int64_t from = 0; remaining > 0;) {
    const int64_t take = remaining < batch ? remaining : batch;
    const auto x = xs.slice(0, from, from + take), y = ys.slice(0, from, from + take);
    const auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    from += take;
    remaining -= take;
    std::printf("remaining %lld %.9f\n", static_cast<long long>(remaining), loss.item<double>());
  }
  std::vector<int64_t> ids(45);
  std::iota(ids.begin(), ids.end(), 0);
  int64_t begin = 0;
  for (auto it = ids.begin(); it != ids.end();) {
    const int64_t rows = std::min<int64_t>(batch, ids.end() - it);
    const auto x = xs.narrow(0, begin, rows), y = ys.narrow(0, begin, rows);
    begin += rows;
    it += rows;
    const auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("iterator %.9f\n", loss.item<double>());
  }
  return 0;
}
