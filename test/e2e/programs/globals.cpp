// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Model, loader, optimizer, a table of losses: all of them made before main begins, with a batch size and a rate that are read by then.
#include <hvd/hvd.hpp>


#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>
const auto kDouble = (hvd::set_default_dtype(hvd::kFloat64), hvd::manual_seed(1), true);

struct Rows : hvd::data::Dataset {
  Rows() : x(hvd::randn({50, 5})), y((x.matmul(hvd::randn({5, 3}))).argmax(1)) {}
  hvd::data::Example get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  size_t size() const override { return static_cast<size_t>(x.size(0)); }
  hvd::Tensor x, y;
};

const char* option(int n, const char* other) {
  static std::ifstream line("/proc/self/cmdline", std::ios::binary);
  static std::vector<std::string> words;
  for (std::string w; std::getline(line, w, '\0');) words.push_back(w);
  return static_cast<size_t>(n) < words.size() ? words[n].c_str() : other;
}
const int64_t kBatch = std::stoll(option(1, "8"));
double kRate = std::stod(option(2, "0.1"));
hvd::nn::Sequential net(hvd::nn::Linear(5, 6), hvd::nn::Tanh(), hvd::nn::Linear(6, 3));
auto loader = hvd::data::make_data_loader(Rows(), hvd::data::DataLoaderOptions(kBatch));
hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(kRate).momentum(0.9));
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
    auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    report.last = loss.item<double>();
    out << epoch << "," << std::setprecision(9) << loss.item<double>() << "\n";
  }
  std::cout << std::setprecision(10) << sum << std::endl;
}

int main() {
  for (int epoch = 1; epoch <= 3; ++epoch) train(epoch);
  hvd::save(net, "net.safetensors");
}
