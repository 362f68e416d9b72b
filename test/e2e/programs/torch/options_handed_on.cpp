// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// The options of a loader are filled in main and handed on by value, through two functions.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::Tensor x = torch::randn({30, 3}, torch::kDouble), y = x.sum(1, true);
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 30; }
};

void epoch(const Points& points, torch::nn::Linear& net, torch::optim::Optimizer& optimizer, torch::data::DataLoaderOptions settings) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Points(points).map(torch::data::transforms::Stack<>()), settings);
  double sum = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
  }
  std::cout << sum / 30 << "\n";
}

void train(const Points& points, torch::nn::Linear& net, torch::optim::Optimizer& optimizer, torch::data::DataLoaderOptions options) {
  for (int i = 0; i < 3; ++i) epoch(points, net, optimizer, options);
}

int main(int argc, char** argv) {
  torch::manual_seed(1);
  std::cout << std::setprecision(12);
  const Points points;
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  torch::data::DataLoaderOptions options;
  options.batch_size(std::stoll(argv[1]));
  train(points, net, optimizer, options);
  torch::save(net, "net.pt");
}
