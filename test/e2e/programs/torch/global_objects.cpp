// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: model, loader and optimizer as objects of namespace scope
// Model, loader, optimizer, device, a table of losses: all of them made before main begins, with a batch size and a rate that are read by then.
#include <torch/torch.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  Rows() {
    x = torch::sin(torch::arange(250, torch::kDouble) * 0.73).reshape({50, 5});
    y = torch::arange(50).mul(7).remainder(3);
  }
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return static_cast<size_t>(x.size(0)); }
  torch::Tensor x, y;
};
const char* option(int n, const char* other) {
  static std::ifstream line("/proc/self/cmdline", std::ios::binary);
  static std::vector<std::string> words;
  for (std::string w; std::getline(line, w, '\0');) words.push_back(w);
  return static_cast<size_t>(n) < words.size() ? words[n].c_str() : other;
}
const int64_t kBatch = std::stoll(option(1, "8"));
double kRate = std::stod(option(2, "0.1"));
const auto kSeed = (torch::manual_seed(1), 1);
torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
auto rows = Rows().map(torch::data::transforms::Stack<>());
auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(rows, torch::data::DataLoaderOptions().batch_size(kBatch));
torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(kRate).momentum(0.9));
std::ofstream out("losses.csv");

// Says what it has to say when the session of main is over.
struct Report {
  double last = 0;
  ~Report() {
    std::cout << "last " << last << std::endl;
    std::ofstream("report.txt", std::ios::app) << last << "\n";
  }
} report;

void train(int epoch) {
  double sum = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::cross_entropy_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    report.last = loss.item<double>();
    out << epoch << "," << std::setprecision(9) << loss.item<double>() << "\n";
  }
  std::cout << std::setprecision(10) << sum << std::endl;
}

int main() {
  net->to(torch::kDouble);
  net->to(device);
  for (int epoch = 1; epoch <= 3; ++epoch) train(epoch);
  torch::save(net, "net.pt");
}
