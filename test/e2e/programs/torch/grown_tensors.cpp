// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: tensors that grow by the rows of each batch with cat: predictions of an epoch, a queue of keys
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct Collected {
  torch::Tensor scores, labels;
  void add(const torch::Tensor& out, const torch::Tensor& y) {
    scores = scores.defined() ? torch::cat({scores, out.detach()}) : out.detach();
    if (labels.defined()) {
      labels = torch::cat({labels, y}, 0);
      return;
    }
    labels = y.clone();
  }
  double correlation() const {
    return ((scores - scores.mean()) * (labels - labels.mean())).mean().item<double>() / (scores.std() * labels.std()).item<double>();
  }
  void reset() {
    scores = torch::Tensor();
    labels = torch::Tensor();
  }
};

void append(torch::Tensor& all, const torch::Tensor& rows) { all = all.numel() == 0 ? rows : torch::cat({all, rows}, 0); }

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({43, 3}), ys = torch::randn({43, 1});
  torch::nn::Linear net(3, 4), head(4, 1);
  auto parameters = net->parameters();
  for (const auto& p : head->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, argc > 2 ? std::atof(argv[2]) : 0.05);
  Collected collected;
  auto queue = torch::randn({12, 4});
  for (int epoch = 0; epoch < 3; ++epoch) {
    torch::Tensor first, errors, largest = torch::empty({0}), some;
    collected.reset();
    for (int64_t at = 0; at < 43; at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(43, at + batch)), y = ys.slice(0, at, std::min<int64_t>(43, at + batch));
      optimizer.zero_grad();
      const auto hidden = torch::tanh(net(x));
      const auto out = head(hidden);
      const auto against = hidden.mm(queue.t()).exp().sum(1).log().mean();
      const auto loss = torch::mse_loss(out, y) + 0.1 * against;
      loss.backward();
      optimizer.step();
      queue = torch::cat({hidden.detach(), queue}).slice(0, 0, 12);
      collected.add(out, y);
      if (!first.defined()) {
        first = out.detach();
      } else {
        first = torch::cat({first, out.detach()}, 0);
      }
      append(errors, (out - y).detach().abs());
      largest = torch::cat({largest, hidden.detach().amax(1)});
      if (at / batch % 2 == 0) some = some.defined() ? torch::cat({some, out.detach()}) : out.detach();
    }
    std::printf("epoch %d %.9f %.9f %.9f %.9f %.9f %.9f %lld\n", epoch, collected.correlation(), first.median().item<double>(), errors.std().item<double>(),
                largest.median().item<double>(), some[1].item<double>(), queue.abs().sum().item<double>(), static_cast<long long>(first.size(0)));
  }
  return 0;
}
