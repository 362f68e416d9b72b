// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Records of one class hold the rows of a batch in one object and those of many in another: what adds them up, shows them, and decides on them in the
// step serves both. They are counted whole where they come in.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <string>

namespace F = hvd::nn::functional;

struct Totals {
  double loss = 0;
  int64_t rows = 0, right = 0;
  Totals& operator+=(const Totals& o) {
    loss += o.loss;
    rows += o.rows;
    right += o.right;
    return *this;
  }
  double mean() const { return loss / static_cast<double>(rows); }
  std::string text() const {
    char line[80];
    std::snprintf(line, sizeof line, "%.9g %.9g (%lld)", mean(), static_cast<double>(right) / static_cast<double>(rows), static_cast<long long>(rows));
    return line;
  }
};

std::ostream& operator<<(std::ostream& out, const Totals& t) { return out << t.text(); }

class Count {
 public:
  Count() = default;
  explicit Count(int64_t rows) : rows_(rows) {}
  void add(const Count& other) { rows_ += other.rows_; }
  int64_t rows() const { return rows_; }

 private:
  int64_t rows_ = 0;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  const int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  const auto x = hvd::randn({50, 5}), y = x.matmul(hvd::randn({5, 3})).argmax(1);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Sequential net(hvd::nn::Linear(5, 6), hvd::nn::Tanh(), hvd::nn::Linear(6, 3));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  Count seen;
  int64_t step = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    Totals all;
    for (auto& batch : *loader) {
      const auto out = net->forward(batch.data);
      const auto loss = F::cross_entropy(out, batch.target);
      const Count now(batch.data.size(0));
      seen.add(now);
      optimizer.set_lr(rate / (1 + static_cast<double>(seen.rows()) / 50.0));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const auto rows = batch.data.size(0);
      const Totals one{loss.item<double>() * static_cast<double>(rows), rows, out.argmax(1).eq(batch.target).sum().item<int64_t>()};
      all += one;
      if (++step % 3 == 0) std::cout << step << ' ' << one.text() << " of " << all << ' ' << now.rows() << ' ' << seen.rows() << '\n';
    }
    std::cout << epoch << ' ' << all << '\n';
  }
  hvd::save(net, "net.safetensors");
}
