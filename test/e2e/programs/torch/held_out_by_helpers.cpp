// e2e: name=held_out_by_helpers; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=held_out_by_collation; cxx=-DFORM=2; modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// form: an early stop on a held-out set whose rows a helper of the training cuts, into the same struct
// form: an early stop on a held-out set that the collation of the training's batches makes
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Batch {
  torch::Tensor x, y;
};

torch::Tensor rows_of(const torch::Tensor& all, int64_t from, int64_t to) { return all.slice(0, from, to); }

Batch collate(const std::vector<int>& rows) {
  auto x = torch::zeros({static_cast<int64_t>(rows.size()), 3}), y = torch::zeros({static_cast<int64_t>(rows.size()), 1});
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int j = 0; j < 3; ++j) x[i][j] = std::sin(rows[i] * 3 + j);
    y[i][0] = std::cos(rows[i]);
  }
  return {x, y};
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({60, 3}), ys = torch::randn({60, 1});
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  double best = 1e9;
  int wait = 0;
  for (int epoch = 0; epoch < 6; ++epoch) {
#if FORM == 1
    for (int64_t at = 0; at < 43; at += batch) {
      Batch b{rows_of(xs, at, std::min<int64_t>(43, at + batch)), rows_of(ys, at, std::min<int64_t>(43, at + batch))};
#else
    std::vector<int> rows;
    for (int i = 0; i < 43; ++i) {
      rows.push_back(i);
      if (static_cast<int64_t>(rows.size()) < batch && i < 42) continue;
      Batch b = collate(rows);
      rows.clear();
#endif
      optimizer.zero_grad();
      torch::mse_loss(net(b.x), b.y).backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
#if FORM == 1
    Batch held{rows_of(xs, 43, 60), rows_of(ys, 43, 60)};
#else
    std::vector<int> others;
    for (int i = 43; i < 60; ++i) others.push_back(i);
    Batch held = collate(others);
#endif
    const double loss = torch::mse_loss(net(held.x), held.y).item<double>();
    std::printf("epoch %d loss %.9f\n", epoch, loss);
    if (loss < best - 0.01) {
      best = loss;
      wait = 0;
    } else if (++wait >= 2) {
      break;
    }
  }
  torch::save(net, "net.pt");
  return 0;
}
