// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// What loops over the rows of a batch count on the host: given back by a function, printed, an index, a condition, a number added up over steps.
// form: rows counted one by one on the host, `if (out[i].argmax() == y[i]) ++right;`
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace F = torch::nn::functional;

static int correct(const torch::Tensor& out, const torch::Tensor& labels) {
  int right = 0;
  for (int64_t i = 0; i < out.size(0); ++i)
    if (out[i].argmax().item<int64_t>() == labels[i].item<int64_t>()) ++right;
  return right;
}

static double accuracy(const torch::Tensor& out, const torch::Tensor& labels) {
  double right = 0;
  for (int64_t i = 0; i < out.size(0); ++i) right += (out[i].argmax() == labels[i]).item<bool>() ? 1.0 : 0.0;
  return 100.0 * right / out.size(0);
}

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({43, 4}, torch::kFloat64);
  auto y = (x.sum(1) > 0).to(torch::kLong);
  torch::nn::Linear net(4, 2);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::vector<int> batches_with(50);
  for (int epoch = 0; epoch < 3; ++epoch) {
    int right = 0, positive = 0;
    for (int64_t at = 0; at < 43; at += batch) {
      auto data = x.slice(0, at, std::min<int64_t>(at + batch, 43)), labels = y.slice(0, at, std::min<int64_t>(at + batch, 43));
      auto out = net->forward(data);
      auto loss = F::cross_entropy(out, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      right += correct(out, labels);
      int high = 0;
      for (int64_t i = 0; i < out.size(0); ++i) {
        if (out[i][0].item<double>() > 0) ++high;
      }
      ++batches_with[high];
      positive += high;
      if (high > 3) std::cout << "more than three at " << at << ", accuracy " << accuracy(out, labels) << "\n";
    }
    torch::NoGradGuard guard;
    std::cout << "epoch " << epoch << ": " << right << " right, " << positive << " positive, " << correct(net->forward(x), y) << " of all\n";
  }
  for (const int n : batches_with) std::cout << n << " ";
  std::cout << "\n";
  torch::save(net, "net.pt");
}
