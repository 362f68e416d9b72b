// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: top-k accuracy with the labels in one row, `pred.t().eq(labels.view({1, -1}).expand_as(pred))`, and the first k rows of what is equal
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

using torch::Tensor;

static std::vector<double> percents(const Tensor& output, const Tensor& labels, const std::vector<int64_t>& ks) {
  torch::NoGradGuard guard;
  const Tensor pred = std::get<1>(output.topk(ks.back(), 1, true, true)).t();
  const Tensor correct = pred.eq(labels.view({1, -1}).expand_as(pred));
  std::vector<double> out;
  for (const int64_t k : ks) out.push_back(correct.slice(0, 0, k).reshape({-1}).to(torch::kFloat64).sum(0, true).mul_(100.0 / labels.size(0)).item<double>());
  return out;
}

static double hits(const Tensor& output, const Tensor& labels, int64_t k) {
  torch::NoGradGuard guard;
  const Tensor order = output.argsort(1, true).slice(1, 0, k).transpose(0, 1);
  return order.eq(labels.reshape({1, -1}).expand({k, -1})).sum().item<double>();
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::nn::Linear net(4, 10);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const Tensor x = torch::randn({45, 4}), labels = torch::randint(0, 10, {45}, torch::kLong);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double top1 = 0, top3 = 0, found = 0;
    for (int64_t at = 0; at < 45; at += rows) {
      const Tensor bx = x.slice(0, at, std::min<int64_t>(45, at + rows)), by = labels.slice(0, at, std::min<int64_t>(45, at + rows));
      optimizer.zero_grad();
      const Tensor out = net(bx);
      torch::nn::functional::cross_entropy(out, by).backward();
      optimizer.step();
      const std::vector<double> now = percents(out, by, {1, 3});
      top1 += now[0] * by.size(0);
      top3 += now[1] * by.size(0);
      found += hits(out, by, 2);
    }
    std::printf("%d %.9f %.9f %.9f\n", epoch, top1 / 45, top3 / 45, found);
  }
  return 0;
}
