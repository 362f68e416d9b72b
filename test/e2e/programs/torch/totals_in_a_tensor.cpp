// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// What an epoch adds up lies in one tensor: losses, hits and how many samples there were.
// form: numbers of samples added up in an item of a tensor
// form: sums and numbers of samples put together into a tensor and added up
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

struct Totals {
  torch::Tensor sums = torch::zeros({4}, torch::kFloat64), both = torch::zeros({2}, torch::kFloat64);
  void note(const torch::Tensor& out, const torch::Tensor& loss, const torch::Tensor& labels) {
    torch::NoGradGuard guard;
    sums[0] += loss.detach() * labels.size(0);
    sums[1] += out.argmax(1).eq(labels).sum();
    sums[2] += labels.size(0);
    sums[3].add_(static_cast<double>(labels.size(0)));
    both += torch::tensor({loss.item<double>() * labels.size(0), static_cast<double>(labels.size(0))}, torch::kFloat64);
  }
};

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({43, 4}, torch::kFloat64);
  auto y = (x.sum(1) > 0).to(torch::kLong);
  torch::nn::Linear net(4, 2);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto seen = torch::zeros({}, torch::kLong);
  for (int epoch = 0; epoch < 3; ++epoch) {
    Totals totals;
    for (int64_t at = 0; at < 43; at += batch) {
      auto pictures = x.slice(0, at, std::min<int64_t>(at + batch, 43)), labels = y.slice(0, at, std::min<int64_t>(at + batch, 43));
      auto out = net->forward(pictures);
      auto loss = torch::nn::functional::cross_entropy(out, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      totals.note(out, loss, labels);
      seen += pictures.size(0);
    }
    std::cout << "epoch " << epoch << ": " << (totals.sums[0] / totals.sums[2]).item<double>() << " " << totals.sums[1].item<double>() << " of "
              << totals.sums[2].item<double>() << " " << totals.sums[3].item<double>() << ", seen " << seen.item<int64_t>() << "\n";
  }
  torch::save(net, "net.pt");
}
