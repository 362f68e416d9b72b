// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// A loss that is added up row by row, of one row in eight: some ranks have none of them, and no parameter is behind their loss.
// form: a loss to which no row of some ranks adds anything
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

namespace F = torch::nn::functional;

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({48, 4}, torch::kFloat64);
  auto y = (torch::arange(48) % 8 == 0).to(torch::kLong);
  torch::nn::Sequential net(torch::nn::Linear(4, 6), torch::nn::Tanh(), torch::nn::Linear(6, 2));
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < 48; at += batch) {
      auto data = x.slice(0, at, at + batch), target = y.slice(0, at, at + batch);
      auto out = net->forward(data);
      auto loss = torch::zeros({}, torch::kFloat64);
      int n = 0;
      for (int64_t i = 0; i < data.size(0); ++i) {
        if (target[i].item<int64_t>() != 1) continue;
        loss = loss + F::mse_loss(out[i][0], data[i][0]);
        ++n;
      }
      if (n > 0) loss = loss / n;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::cout << "epoch " << epoch << " " << total << "\n";
  }
  torch::save(net, "net.pt");
}
