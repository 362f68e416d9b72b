// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// A loader whose types are written out, of single samples that the step puts together to an Example of its own.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <vector>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::Tensor x = torch::randn({30, 3}, torch::kDouble), y = x.sum(1, true);
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 30; }
};
using Sampler = torch::data::samplers::RandomSampler;

int main(int argc, char** argv) {
  const int64_t batch_size = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  Points points;
  auto loader = torch::data::make_data_loader<Points, Sampler>(points, Sampler(30), torch::data::DataLoaderOptions(batch_size));
  std::cout << std::setprecision(12);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      std::vector<torch::Tensor> inputs, targets;
      for (const auto& sample : batch) {
        inputs.push_back(sample.data);
        targets.push_back(sample.target);
      }
      torch::data::Example<> together{torch::stack(inputs), torch::stack(targets)};
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net->forward(together.data), together.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * together.data.size(0);
    }
    std::cout << epoch << ": " << sum / 30 << "\n";
  }
  torch::save(net, "net.pt");
}
