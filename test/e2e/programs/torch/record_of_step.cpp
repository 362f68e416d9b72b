// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: a record of each step that is read when the steps are over
// Its count of samples is that of the whole batch, as its loss is.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <numeric>

struct Result {
  double loss;
  int64_t right, count;
};

struct Totals {
  double loss = 0;
  int64_t count = 0;
  Totals& operator+=(const Result& r) {
    loss += r.loss * static_cast<double>(r.count);
    count += r.count;
    return *this;
  }
};

Result train(torch::nn::Linear& net, torch::optim::Optimizer& optimizer, const torch::Tensor& x) {
  optimizer.zero_grad();
  auto out = net(x);
  auto loss = out.pow(2).mean();
  loss.backward();
  optimizer.step();
  return {loss.item<double>(), out.argmax(1).eq(1).sum().item<int64_t>(), x.size(0)};
}

int main(int argc, char** argv) {
  const int64_t batchSize = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  auto x = torch::randn({50, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), batchSize);
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<Result> results;
    Totals totals;
    for (auto& batch : *loader) {
      const Result result = train(net, optimizer, batch.data);
      results.push_back(result);
      totals += result;
    }
    const double loss = std::accumulate(results.begin(), results.end(), 0.0, [](double sum, const Result& r) { return sum + r.loss * static_cast<double>(r.count); });
    int64_t right = 0;
    for (const auto& r : results) right += r.right;
    std::cout << std::setprecision(10) << loss / 50 << ' ' << right << ' ' << totals.loss / static_cast<double>(totals.count) << '\n';
  }
  torch::save(net, "net.pt");
}
