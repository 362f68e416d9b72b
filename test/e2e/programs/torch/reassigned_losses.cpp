// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// One variable for the losses of the samples and, from the next line on, for their mean.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

torch::Tensor mean_of(const torch::Tensor& out, const torch::Tensor& wanted) {
  auto loss = -(out * wanted);
  loss = loss.sum(1);
  loss = loss.mean();
  return loss;
}

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  auto inputs = torch::rand({50, 3}, torch::kDouble), wanted = torch::softmax(torch::randn({50, 4}, torch::kDouble), 1);
  auto weights = (torch::rand({50}, torch::kDouble) > 0.3).to(torch::kDouble);
  torch::nn::Linear net(3, 4);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::cout << std::setprecision(12);
  for (int epoch = 0; epoch < 4; ++epoch) {
    double sum = 0;
    auto order = torch::randperm(50);
    for (int64_t i = 0; i < 50; i += batch) {
      auto rows = order.slice(0, i, std::min<int64_t>(i + batch, 50));
      auto out = torch::log_softmax(net->forward(inputs.index_select(0, rows)), 1), y = wanted.index_select(0, rows);
      optimizer.zero_grad();
      auto loss = F::mse_loss(out.exp(), y, F::MSELossFuncOptions(torch::kNone));
      loss = loss.sum(1);
      if (epoch == 1) {
        auto mask = weights.index_select(0, rows);
        auto masked = loss * mask;
        masked = masked.sum() / mask.sum().clamp_min(1);
        masked.backward();
        sum += masked.item<double>();
      } else if (epoch == 2) {
        auto other = mean_of(out, y);
        other.backward();
        sum += other.item<double>();
      } else {
        loss = loss.mean();
        loss.backward();
        sum += loss.item<double>();
      }
      optimizer.step();
    }
    std::cout << epoch << ": " << sum << "\n";
  }
  torch::save(net, "net.pt");
}
