// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: data that a thread has read before the training begins, and a pass over test data whose numbers are shared out
// What is known of threads is asked for after the evaluation has been looked at, too.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Samples : torch::data::datasets::Dataset<Samples> {
  explicit Samples(const std::vector<double>& numbers)
      : x(torch::tensor(numbers, torch::kFloat64).view({-1, 5})), y(torch::arange(x.size(0)).remainder(3)) {}
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
  torch::Tensor x, y;
};

std::vector<double> read(int rows) {
  std::vector<double> numbers;
  std::vector<int> lines;
  std::thread reader([&] {
    for (int i = 0; i < rows; ++i) {
      lines.push_back(i);
      for (int k = 0; k < 5; ++k) numbers.push_back(std::sin(0.7 * i + 1.3 * k));
    }
  });
  reader.join();
  if (lines.size() < 2) std::exit(2);
  if (lines.empty()) std::exit(3);
  return numbers;
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  torch::nn::Linear net(5, 3);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Samples(read(46)).map(torch::data::transforms::Stack<>()), batch);
  auto tests = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Samples(read(21)).map(torch::data::transforms::Stack<>()), 8);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& b : *loader) {
      auto loss = torch::nn::functional::cross_entropy(net->forward(b.data), b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    torch::NoGradGuard no_grad;
    int64_t correct = 0, seen = 0;
    for (auto& b : *tests) {
      correct += net->forward(b.data).argmax(1).eq(b.target).sum().item<int64_t>();
      seen += b.data.size(0);
    }
    std::printf("epoch %d: %ld of %ld\n", epoch, static_cast<long>(correct), static_cast<long>(seen));
  }
  torch::save(net, "net.pt");
}
