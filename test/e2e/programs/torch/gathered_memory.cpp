// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: a batch gathered in plain vectors and wrapped with as many rows as they have
// form: the numbers of all rows in one vector, viewed as rows
// The rows of a batch are gathered in flat vectors, and wrapped as tensors with as many rows as there are labels: a number of items is no batch size,
// that stands in the loop which gathers them.
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

struct Point {
  double x[3];
  double y;
};

class Trainer {
 public:
  Trainer(torch::nn::Linear& net, torch::optim::Optimizer& optimizer) : net_(net), optimizer_(optimizer) {}
  double step(const std::vector<Point>& points) {
    const int rows = static_cast<int>(points.size());
    std::vector<double> values(static_cast<std::size_t>(rows) * 3), targets(static_cast<std::size_t>(rows));
    for (int i = 0; i < rows; ++i) {
      std::copy(points[i].x, points[i].x + 3, values.begin() + i * 3);
      targets[i] = points[i].y;
    }
    const auto x = torch::from_blob(values.data(), {rows, 3}, torch::kDouble).clone();
    const auto y = torch::from_blob(targets.data(), {rows, 1}, torch::kDouble).clone();
    auto loss = torch::mse_loss(net_->forward(x), y);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
    return loss.item<double>();
  }

 private:
  torch::nn::Linear& net_;
  torch::optim::Optimizer& optimizer_;
};

int main(int argc, char** argv) {
  const std::size_t batch_size = argc > 1 ? std::stoul(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.1;
  torch::manual_seed(5);
  std::vector<Point> points;
  for (int i = 0; i < 50; ++i) points.push_back({{i * 0.02, 1 - i * 0.01, 0.3}, i % 3 * 0.5});
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  Trainer trainer(net, optimizer);
  std::cout << std::setprecision(9);
  for (std::size_t i = 0; i < points.size(); i += batch_size)
    std::cout << trainer.step(std::vector<Point>(points.begin() + i, points.begin() + std::min(i + batch_size, points.size()))) << '\n';
  for (std::size_t i = 0; i < points.size(); i += batch_size) {
    const std::size_t end = std::min(i + batch_size, points.size());
    std::vector<double> values, targets;
    for (std::size_t j = i; j < end; ++j) {
      values.insert(values.end(), points[j].x, points[j].x + 3);
      targets.push_back(points[j].y);
    }
    const auto x = torch::from_blob(values.data(), {static_cast<std::int64_t>(targets.size()), 3}, torch::kDouble).clone();
    const auto y = torch::from_blob(targets.data(), {static_cast<std::int64_t>(targets.size()), 1}, torch::kDouble).clone();
    auto loss = torch::mse_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<double>() << '\n';
  }
  for (std::size_t i = 0; i < points.size(); i += batch_size) {
    const std::size_t end = std::min(i + batch_size, points.size());
    std::vector<double> values, targets;
    for (std::size_t j = i; j < end; ++j) {
      values.insert(values.end(), points[j].x, points[j].x + 3);
      targets.push_back(points[j].y);
    }
    const auto rows = static_cast<std::int64_t>(targets.size());
    const auto x = torch::tensor(values, torch::kDouble).view({-1, 3}), y = torch::tensor(targets, torch::kDouble).clone().reshape({rows, 1});
    auto loss = torch::mse_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<double>() << '\n';
  }
  torch::save(net, "net.pt");
}
