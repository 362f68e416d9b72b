// e2e: name=pairs; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=pairs_of_one_row_each; modes=global; args=2 0.05; ranks=1,2; timeout=120
// e2e: name=fields; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=positions; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=positions_of_one_row_each; cxx=-DFORM=2; modes=global; args=2 0.05; ranks=1,2; timeout=120
// e2e: name=subscripts; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=again; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: batches in a list, `for (auto& [x, y] : pairs)`, whose labels are read again in a metric
// form: `for (auto& rows : randperm(n).split(size))`, whose positions are read again in a metric
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

namespace F = torch::nn::functional;
using torch::Tensor;

struct Batch {
  Tensor x, y;
};

int main(int argc, char** argv) {
  const int64_t size = std::atoll(argv[1]);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(229);
  auto x = torch::randn({50, 8}), y = (x.sum(1) > 0).to(torch::kLong);
  torch::nn::Linear net(8, 2);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
#if FORM == 1
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 50; i += size) batches.push_back({x.slice(0, i, i + size), y.slice(0, i, i + size)});
#elif FORM == 2
  const auto batches = torch::randperm(50).split(size);
#elif FORM == 3
  const auto xs = x.split(size), ys = y.split(size);
#else
  std::vector<std::pair<Tensor, Tensor>> batches;
  for (int64_t i = 0; i < 50; i += size) batches.emplace_back(x.slice(0, i, i + size), y.slice(0, i, i + size));
#endif
  for (int epoch = 0; epoch < 3; ++epoch) {
    double hits = 0, sure = 0, after = 0;
    int64_t seen = 0;
#if FORM == 0 || FORM == 4
    for (auto& [xb, yb] : batches) {
#elif FORM == 1
    for (const Batch& b : batches) {
#elif FORM == 2
    for (auto& rows : batches) {
#else
    for (size_t k = 0; k < xs.size(); ++k) {
#endif
#if FORM == 1
      optimizer.zero_grad();
      auto out = net(b.x);
      auto loss = F::cross_entropy(out, b.y);
      loss.backward();
      optimizer.step();
      hits += (out.argmax(1) == b.y).sum().item<int>();
      auto hot = F::one_hot(b.y, 2);
      sure += (torch::softmax(out, 1) * hot).sum().item<double>();
      seen += b.y.size(0);
#elif FORM == 2
      optimizer.zero_grad();
      auto out = net(x.index_select(0, rows));
      auto loss = F::cross_entropy(out, y.index_select(0, rows));
      loss.backward();
      optimizer.step();
      hits += (out.argmax(1) == y.index_select(0, rows)).sum().item<int>();
      auto hot = F::one_hot(y.index_select(0, rows), 2);
      sure += (torch::softmax(out, 1) * hot).sum().item<double>();
      seen += y.index_select(0, rows).size(0);
#elif FORM == 3
      optimizer.zero_grad();
      auto out = net(xs[k]);
      auto loss = F::cross_entropy(out, ys[k]);
      loss.backward();
      optimizer.step();
      hits += (out.argmax(1) == ys[k]).sum().item<int>();
      auto hot = F::one_hot(ys[k], 2);
      sure += (torch::softmax(out, 1) * hot).sum().item<double>();
      seen += ys[k].size(0);
#else
      optimizer.zero_grad();
      auto out = net(xb);
      auto loss = F::cross_entropy(out, yb);
      loss.backward();
      optimizer.step();
      hits += (out.argmax(1) == yb).sum().item<int>();
      auto hot = F::one_hot(yb, 2);
      sure += (torch::softmax(out, 1) * hot).sum().item<double>();
      seen += yb.size(0);
#endif
#if FORM == 4  // the model is asked once more, with its new parameters
      torch::NoGradGuard guard;
      after += (net(xb).argmax(1) - yb).abs().sum().item<double>();
#endif
    }
    std::printf("%d hits %.0f sure %.10f after %.0f of %ld\n", epoch, hits, sure, after, static_cast<long>(seen));
  }
}
