// e2e: name=held_out_into_struct; cxx=-DFORM=1; modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// e2e: name=held_out_into_fields; cxx=-DFORM=2; modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// e2e: name=held_out_into_tensors; cxx=-DFORM=3; modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// e2e: name=held_out_made_field_by_field; cxx=-DFORM=4; modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// e2e: name=held_out_cut_into_tensors; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: an early stop on a held-out set that a function shared with the training writes through references
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Batch {
  torch::Tensor x, y;
};

#if FORM == 1
void collate(const std::vector<int>& rows, Batch& out) {
#elif FORM == 2 || FORM == 3
void collate(const std::vector<int>& rows, torch::Tensor& out_x, torch::Tensor& out_y) {
#elif FORM == 4
Batch collate(const std::vector<int>& rows) {
#endif
#if FORM != 5
  auto x = torch::zeros({static_cast<int64_t>(rows.size()), 3}), y = torch::zeros({static_cast<int64_t>(rows.size()), 1});
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int j = 0; j < 3; ++j) x[i][j] = std::sin(rows[i] * 3 + j);
    y[i][0] = std::cos(rows[i]);
  }
#if FORM == 1
  out.x = x;
  out.y = y;
#elif FORM == 4
  Batch out;
  out.x = x;
  out.y = y;
  return out;
#else
  out_x = x;
  out_y = y;
#endif
}
#else
void cut(const torch::Tensor& all_x, const torch::Tensor& all_y, int64_t from, int64_t to, torch::Tensor& x, torch::Tensor& y) {
  x = all_x.slice(0, from, to);
  y = all_y.slice(0, from, to);
}
#endif

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
#if FORM == 5
    for (int64_t at = 0; at < 43; at += batch) {
      Batch b;
      cut(xs, ys, at, std::min<int64_t>(43, at + batch), b.x, b.y);
#else
    std::vector<int> rows;
    for (int i = 0; i < 43; ++i) {
      rows.push_back(i);
      if (static_cast<int64_t>(rows.size()) < batch && i < 42) continue;
      Batch b;
#if FORM == 1
      collate(rows, b);
#elif FORM == 4
      b = collate(rows);
#else
      collate(rows, b.x, b.y);
#endif
      rows.clear();
#endif
      optimizer.zero_grad();
      torch::mse_loss(net(b.x), b.y).backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    std::vector<int> others;
    double loss = 0;
    for (int i = 43; i < 60; ++i) {
      others.push_back(i);
      if (others.size() < 9 && i < 59) continue;
#if FORM == 1
      Batch held;
      collate(others, held);
      const auto x = held.x, y = held.y;
#elif FORM == 2
      Batch held;
      collate(others, held.x, held.y);
      const auto x = held.x, y = held.y;
#elif FORM == 3
      torch::Tensor x, y;
      collate(others, x, y);
#elif FORM == 4
      Batch held = collate(others);
      const auto x = held.x, y = held.y;
#else
      torch::Tensor x, y;
      cut(xs, ys, others.front(), i + 1, x, y);
#endif
      loss += torch::mse_loss(net(x), y).item<double>() * others.size() / 17;
      others.clear();
    }
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
