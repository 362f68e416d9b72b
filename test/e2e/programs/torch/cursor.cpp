// e2e: edit=in = x.slice(0, cursor, cursor + 8) => in = x.slice(0, cursor, cursor + {8*N}); edit=out = y.slice(0, cursor, cursor + 8) => out = y.slice(0, cursor, cursor + {8*N}); edit=cursor = (cursor + 8) % 48 => cursor = (cursor + {8*N}) % 48; scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// A position that lives longer than one pass over the samples: it moves on by as many as a step takes.
#include <torch/torch.h>
#include <iomanip>
#include <iostream>
int main(int argc, char** argv) {
  const double rate = std::atof(argv[2]);
  torch::manual_seed(7);
  auto x = torch::rand({48, 3}, torch::kDouble), y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), rate);
  int64_t cursor = 0;
  for (int step = 0; step < 12; ++step) {
    auto in = x.slice(0, cursor, cursor + 8), out = y.slice(0, cursor, cursor + 8);
    cursor = (cursor + 8) % 48;
    auto loss = torch::mse_loss(net->forward(in), out);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::cout << std::setprecision(12) << net->weight << "\n";
}
