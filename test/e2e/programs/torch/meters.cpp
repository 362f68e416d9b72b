// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: a meter that gets counts of the batch and other numbers
// Inside the meter nothing tells a count of this rank's rows from a number that all ranks have: it gets what is combined.
#include <fstream>

#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

class Average {
 public:
  void update(double value, int64_t n = 1) {
    sum_ += value * static_cast<double>(n);
    count_ += n;
  }
  Average& operator+=(const std::pair<double, int64_t>& item) {
    update(item.first, item.second);
    return *this;
  }
  double mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  int64_t count() const { return count_; }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

class Writer {
 public:
  void add(const std::string& tag, double value, int64_t step) { rows_.push_back(tag + " " + std::to_string(value) + " " + std::to_string(step)); }
  void save(const std::string& path) const {
    std::ofstream out(path);
    for (const auto& row : rows_) out << row << '\n';
  }

 private:
  std::vector<std::string> rows_;
};

double percent(int64_t part, int64_t whole) { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

int main(int argc, char** argv) {
  const int64_t batchSize = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  auto x = torch::randn({50, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), batchSize);
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  Average losses, rates, means;
  Writer writer;
  int64_t seen = 0, hits = 0, step = 0;
  for (int epoch = 1; epoch <= 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto out = net(batch.data);
      auto loss = out.pow(2).mean();
      loss.backward();
      optimizer.step();
      const auto right = out.argmax(1).eq(1).sum().item<int64_t>();
      losses.update(loss.item<double>(), batch.data.size(0));
      rates.update(0.5 / epoch);
      means += {out.mean().item<double>(), batch.data.size(0)};
      hits += right;
      seen += batch.data.size(0);
      writer.add("loss", loss.item<double>(), ++step);
      writer.add("rows", static_cast<double>(batch.data.size(0)), step);
      std::cout << std::setprecision(10) << percent(right, batch.data.size(0)) << ' ' << percent(hits, seen) << ' ' << percent(seen, 50) << '\n';
    }
  writer.save("log.txt");
  std::cout << losses.mean() << ' ' << losses.count() << ' ' << rates.mean() << ' ' << rates.count() << ' ' << means.mean() << '\n';
  torch::save(net, "net.pt");
}
