// SPDX-License-Identifier: Apache-2.0
#include "model.h"

namespace {

using Count = int64_t;
constexpr int kRounds = 50;  // here: samples

class Line {  // of samples
 public:
  explicit Line(Count n) : x_(torch::randn({n, 5}, torch::kDouble)), y_(torch::randint(0, 3, {n})) {}
  ~Line() = default;
  torch::data::datasets::TensorDataset inputs() const { return torch::data::datasets::TensorDataset({x_}); }
  const torch::Tensor& x() const { return x_; }
  const torch::Tensor& y() const { return y_; }

 private:
  torch::Tensor x_, y_;
};

struct Rows : torch::data::Dataset<Rows> {
  explicit Rows(const Line& line) : line(line) {}
  torch::data::Example<> get(size_t i) override { return {line.x()[i], line.y()[i]}; }
  torch::optional<size_t> size() const override { return line.x().size(0); }
  Line line;
};

// The sum over the samples of a step: main's `show` prints.
double show(const torch::Tensor& loss, Count n) { return loss.item<double>() * static_cast<double>(n); }

}  // namespace

static torch::Tensor train(Net& net, const torch::data::Example<>& batch) {
  net->train();
  return torch::nn::functional::cross_entropy(net(batch.data), batch.target);
}

double fit(Net& net, const Settings& settings) {
  static const Line line(kRounds);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows(line).map(torch::data::transforms::Stack<>()), settings.batch);
  torch::optim::SGD optimizer(net->parameters(), settings.rate);
  double sum = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = train(net, batch);
    loss.backward();
    optimizer.step();
    sum += show(loss, batch.data.size(0));
  }
  return sum / kRounds;
}
