// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// What a step writes into a part of a tensor that lives on is there for all ranks: the tensor is read as a whole, and saved.
// form: rows of a step written into a part of a tensor that lives on, `kept.slice(0, i, i + n) = out`
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

namespace F = torch::nn::functional;

// By way of a function, and of a member.
static void remember(torch::Tensor& all, int64_t at, const torch::Tensor& rows) { all.slice(0, at, at + rows.size(0)).copy_(rows); }

struct Bank {
  torch::Tensor rows = torch::zeros({43, 2}, torch::kFloat64);
  void put(int64_t at, const torch::Tensor& some) {
    torch::NoGradGuard guard;
    rows.narrow(0, at, some.size(0)).copy_(some);
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
  auto last = torch::zeros({43, 2}, torch::kFloat64), smooth = torch::zeros({43, 2}, torch::kFloat64), counts = torch::zeros({43}, torch::kFloat64);
  auto kept = torch::zeros({43, 2}, torch::kFloat64);
  Bank bank;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < 43; at += batch) {
      auto data = x.slice(0, at, std::min<int64_t>(at + batch, 43)), labels = y.slice(0, at, std::min<int64_t>(at + batch, 43));
      auto out = net->forward(data);
      auto loss = F::cross_entropy(out, labels) + 0.1 * F::mse_loss(out, smooth.slice(0, at, at + data.size(0)));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last.slice(0, at, std::min<int64_t>(at + batch, 43)) = out.detach();
      smooth.slice(0, at, at + data.size(0)).mul_(0.5).add_(out.detach(), 0.5);
      remember(kept, at, out.detach() * 2);
      bank.put(at, out * 3);
      counts.narrow(0, at, data.size(0)) += labels;
    }
    std::cout << "epoch " << epoch << ": " << last.sum().item<double>() << " " << smooth.abs().mean().item<double>() << " " << counts.sum().item<double>() << " " << kept.sum().item<double>() << " "
              << bank.rows.sum().item<double>() << "\n";
  }
  torch::save(last, "last.pt");
  torch::save(net, "net.pt");
}
