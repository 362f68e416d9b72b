// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Gradients that the program keeps and adds up itself: read in both branches of a condition, with and without braces, in the cases of a switch.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::Tensor x = torch::randn({50, 5}, torch::kDouble), y = torch::randint(0, 3, {50});
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 50; }
};

int main(int argc, char** argv) {
  const int64_t batch_size = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  std::cout << std::setprecision(10);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows().map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(batch_size));
  torch::nn::Sequential net(torch::nn::Linear(5, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  const auto parameters = net->parameters();
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<torch::Tensor> kept;
    int count = 0;
    double length = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      if (epoch % 2 == 0) {
        if (kept.empty()) for (auto& p : parameters) kept.push_back(p.grad().clone());
        else for (size_t k = 0; k < parameters.size(); ++k) kept[k] += parameters[k].grad();
      } else {
        if (kept.empty()) {
          for (auto& p : parameters) kept.push_back(p.grad().clone());
        } else {
          for (size_t k = 0; k < parameters.size(); ++k) kept[k] += parameters[k].grad();
        }
      }
      ++count;
      switch (count % 3) {
        case 0:
          for (auto& p : parameters) length += p.grad().norm().item<double>();
          break;
        case 1:
          length += 2 * parameters[0].grad().norm().item<double>();
          break;
        default: break;
      }
      if (count % 2 == 0) {
        for (size_t k = 0; k < parameters.size(); ++k) parameters[k].mutable_grad() = kept[k] / 2;
        optimizer.step();
        kept.clear();
      }
    }
    std::cout << epoch << ' ' << count << ' ' << length << std::endl;
  }
  torch::save(net, "net.pt");
}
