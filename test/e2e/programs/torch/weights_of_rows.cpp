// e2e: args=; scaled={6*N} {0.1*N}; ranks=1,2,3; timeout=90
// Weights of the samples of a batch: as an option of the loss, as a mask that may leave a rank with nothing, as vectors that are multiplied one by one.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace F = torch::nn::functional;

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(5);
  torch::nn::Linear net(4, 3);
  net->to(torch::kFloat64);
  auto x = torch::rand({26, 4}, torch::kFloat64), y = torch::rand({26, 3}, torch::kFloat64);
  // In every batch one sample is marked: of three ranks two have none.
  auto marks = (torch::arange(26).remainder(6) == 4).to(torch::kFloat64);
  marks[24] = 1;
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int64_t i = 0; i < 26; i += batch) {
    auto data = x.slice(0, i, i + batch), target = y.slice(0, i, i + batch);
    auto mark = marks.slice(0, i, i + batch);
    auto out = net(data);
    auto weight = target * 2 + 1;
    auto weighted = F::binary_cross_entropy_with_logits(out, target, F::BinaryCrossEntropyWithLogitsFuncOptions().weight(weight));
    optimizer.zero_grad();
    weighted.backward();
    optimizer.step();

    auto rows = (net(data) - target).pow(2).sum(1);
    auto marked = (rows * mark).sum() / mark.sum();
    optimizer.zero_grad();
    marked.backward();
    optimizer.step();

    auto products = net(data).unsqueeze(1).matmul(target.unsqueeze(2)).squeeze(2).squeeze(1);
    auto alike = (products - 1).pow(2).mean();
    optimizer.zero_grad();
    alike.backward();
    optimizer.step();
    std::printf("weighted %.9f marked %.9f alike %.9f\n", weighted.item<double>(), marked.item<double>(), alike.item<double>());
  }
  torch::save(net, "trained.pt");
}
