// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: scores of an epoch taken from the memory of a step's outputs, `list.emplace_back(p[i], label[i])`, through pointers and accessors that are kept in variables
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using torch::Tensor;

static double area(std::vector<std::pair<double, int>> scored) {
  std::sort(scored.begin(), scored.end());
  double right = 0, wrong = 0, sum = 0;
  for (const auto& [score, label] : scored) {
    if (label == 1) sum += wrong, ++right;
    else ++wrong;
  }
  return sum / (right * wrong);
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const Tensor x = torch::randn({45, 4}), y = (torch::rand({45}) > 0.5).to(torch::kFloat64);
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::pair<double, int>> scored, again;
    for (int64_t at = 0; at < 45; at += rows) {
      const Tensor bx = x.slice(0, at, std::min<int64_t>(45, at + rows)), by = y.slice(0, at, std::min<int64_t>(45, at + rows));
      const Tensor out = net(bx).squeeze(1);
      optimizer.zero_grad();
      torch::binary_cross_entropy_with_logits(out, by).backward();
      optimizer.step();
      const Tensor chances = torch::sigmoid(out.detach()).contiguous(), labels = by.contiguous();
      auto p = chances.data_ptr<double>();
      auto label = labels.accessor<double, 1>();
      for (int64_t i = 0; i < chances.numel(); ++i) {
        scored.emplace_back(p[i], static_cast<int>(label[i]));
        again.push_back(std::make_pair(p[i], label[i] > 0.5 ? 1 : 0));
      }
    }
    std::printf("%d %.9f %.9f of %zu\n", epoch, area(scored), area(again), scored.size());
  }
  return 0;
}
