// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Draws for a whole step whose extents are written as numbers: a gain for each channel, a place for a hole. No batch has as many rows.
// form: random numbers whose extents are written out, one for each channel, drawn for all samples of a step
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const int epochs = 3;
  auto x = torch::randn({43, 3, 4, 4}, torch::kFloat64);
  auto y = (x.sum({1, 2, 3}) > 0).to(torch::kLong);
  torch::nn::Sequential net(torch::nn::Flatten(), torch::nn::Linear(48, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2));
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    auto order = torch::randperm(43);
    for (int64_t i = 0; i < 43; i += batch) {
      auto rows = order.slice(0, i, std::min<int64_t>(i + batch, 43));
      auto pictures = x.index_select(0, rows), labels = y.index_select(0, rows);
      auto gain = 1 + 0.1 * torch::rand({3, 1, 1}, torch::kFloat64), shift = 0.1 * torch::randn({3, 1, 1}, torch::kFloat64);
      auto out = net->forward(pictures * gain + shift + 0.01 * torch::rand({1}, torch::kFloat64));
      auto loss = torch::nn::functional::cross_entropy(out, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      if (i == 0) std::cout << "epoch " << epoch << ": " << loss.item<double>() << ", first gain " << gain[0].item<double>() << "\n";
    }
  }
  torch::save(net, "net.pt");
}
