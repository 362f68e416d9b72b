// e2e: scaled={8*N} {0.02*N}; ranks=1,2,3; timeout=60
// Positions drawn by chances in a table that begins with ones, is read by position, and changes in place: the table is no batch.
// form: a table of chances that losses are divided by
// form: a table of chances that changes in place
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t samples = 53, batch = std::stoll(argv[1]);
  torch::manual_seed(23);
  std::cout << std::setprecision(9);
  auto x = torch::randn({samples, 4}, torch::kDouble), y = x.mm(torch::randn({4, 1}, torch::kDouble));
  auto chance = torch::ones({samples}, torch::kDouble), falling = torch::ones({samples}, torch::kDouble);
  chance /= chance.sum();
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  for (int step = 0; step < 8; ++step) {
    auto drawn = torch::multinomial(chance, batch, true);
    auto errors = (net(x.index_select(0, drawn)) - y.index_select(0, drawn)).pow(2).squeeze(1);
    auto loss = (errors / (chance.index_select(0, drawn) * samples)).mean();
    auto others = torch::multinomial(falling, batch, true);
    auto second = torch::mse_loss(net(x.index_select(0, others)), y.index_select(0, others));
    optimizer.zero_grad();
    (loss + second).backward();
    optimizer.step();
    falling.mul_(0.9).add_(0.01);
    std::cout << step << " " << loss.item<double>() << " " << second.item<double>() << "\n";
  }
  torch::save(net, "net.pt");
}
