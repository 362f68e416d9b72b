// e2e: edit=size = 6 => size = {6*N}; edit=k < 8 => k < {8*N}; edit=at += 8 => at += {8*N}; edit=rate = 0.1 => rate = {0.1*N}; ranks=1,2,3; timeout=90
// e2e: name=counted_rows; cxx=-DCOUNTED; modes=global; ranks=1,3; warns=HVD2010
// e2e: name=all_rows; cxx=-DALL; modes=global; ranks=1,3; warns=HVD2010
// Batches collected row by row: how many, the loop that collects them says.
#include <torch/torch.h>

#include <cstdio>
#include <random>
#include <vector>

int main() {
  torch::manual_seed(3);
  const double rate = 0.1;
  auto x = torch::rand({48, 3}, torch::kFloat64), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  const auto train = [&](const std::vector<torch::Tensor>& rows, const std::vector<torch::Tensor>& labels) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(torch::stack(rows)), torch::stack(labels));
    loss.backward();
    optimizer.step();
    std::printf("loss %.9f\n", loss.item<double>());
  };
#ifdef COUNTED
  for (int64_t b = 0; b < 6; ++b) {
    std::vector<torch::Tensor> rows, labels;
    for (int64_t i = 0; i < 8; ++i) {
      rows.push_back(x[b * 8 + i]);
      labels.push_back(y[b * 8 + i]);
    }
    train(rows, labels);
  }
#elif defined(ALL)
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    std::vector<torch::Tensor> rows, labels;
    for (int64_t i = 0; i < 48; ++i) {
      rows.push_back(x[i]);
      labels.push_back(y[i]);
    }
    train(rows, labels);
  }
#else
  std::mt19937 engine(7);
  std::uniform_int_distribution<int64_t> position(0, 47);
  const int size = 6;
  for (int step = 0; step < 8; ++step) {
    std::vector<torch::Tensor> rows, labels;
    for (int i = 0; i < size; ++i) {
      const auto k = position(engine);
      rows.push_back(x[k]);
      labels.push_back(y[k]);
    }
    auto loss = torch::mse_loss(net(torch::stack(rows)), torch::stack(labels));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("drawn %.9f\n", loss.item<double>());
  }
  for (int64_t at = 0; at < 48; at += 8) {
    std::vector<torch::Tensor> rows, labels;
    for (int64_t k = 0; k < 8 && at + k < 48; ++k) {
      rows.push_back(x[at + k]);
      labels.push_back(y[at + k]);
    }
    train(rows, labels);
  }
#endif
  torch::save(net, "trained.pt");
}
