// SPDX-License-Identifier: Apache-2.0
#include "model.h"

namespace {

using Count = int64_t;
constexpr int kRounds = 50;  // here: samples

class Line {  // of samples
 public:
  explicit Line(Count n) : set_(hvd::randn({n, 5}, hvd::kFloat64), hvd::randint(0, 3, {n})) {}
  ~Line() = default;
  const hvd::data::datasets::TensorDataset& set() const { return set_; }

 private:
  hvd::data::datasets::TensorDataset set_;
};

// Names that differ in their first two letters only.
constexpr Count kBegin = 0;
Count paired(Count n) { return n - kBegin; }
Count shared(Count n) { return n + kBegin; }

// The sum over the samples of a step: main's `show` prints.
double show(const hvd::Tensor& loss, Count n) { return loss.item<double>() * static_cast<double>(n); }

}  // namespace

static hvd::Tensor train(Net& net, const hvd::Tensor& x, const hvd::Tensor& y) {
  net->train();
  return hvd::nn::functional::cross_entropy(net(x), y);
}

double fit(Net& net, const Settings& settings) {
  static const Line line(shared(paired(kRounds)));
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(line.set(), hvd::data::DataLoaderOptions(settings.batch));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(settings.rate));
  double sum = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    hvd::Tensor loss = train(net, batch.data, batch.target);
    loss.backward();
    optimizer.step();
    sum += show(loss, batch.data.size(0));
  }
  return sum / kRounds;
}
