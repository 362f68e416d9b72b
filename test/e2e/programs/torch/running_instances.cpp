// e2e: scaled={10*N} {0.1*N}; ranks=1,2; timeout=60
// Instance norm that keeps running statistics, and a rate that the program makes from the rows of its batch.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct Signals : torch::data::datasets::Dataset<Signals> {
  torch::Tensor x = torch::randn({40, 2, 6}, torch::kDouble), y = torch::randint(0, 3, {40});
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
};

int main(int argc, char** argv) {
  const int64_t batch_size = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  std::cout << std::setprecision(10);
  Signals signals;
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(signals.map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(batch_size));
  torch::nn::Sequential net(torch::nn::InstanceNorm1d(torch::nn::InstanceNorm1dOptions(2).affine(true).track_running_stats(true)), torch::nn::Flatten(), torch::nn::Linear(12, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  for (int epoch = 0; epoch < 3; ++epoch) {
    net->train();
    double sum = 0;
    for (auto& batch : *loader) {
      for (auto& group : optimizer.param_groups()) static_cast<torch::optim::SGDOptions&>(group.options()).lr(0.0125 * static_cast<double>(batch.data.size(0)));
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * batch.data.size(0);
    }
    net->eval();
    torch::NoGradGuard without;
    std::cout << epoch << ' ' << sum / 40 << ' ' << net->forward(signals.x.slice(0, 3, 5)).sum().item<double>() << std::endl;
  }
  torch::save(net, "net.pt");
}
