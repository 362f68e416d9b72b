// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: queues of the last rows: rolled on by as many as the batch has, and joined to what is left of them
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({54, 6});
  torch::nn::Linear net(6, 4);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  const int64_t length = 30;
  auto last = torch::randn({length, 4}), first = torch::randn({length, 4}), joined = torch::randn({length, 4});
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < xs.size(0); at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(at + batch, xs.size(0)));
      const auto out = net(x);
      const auto loss = torch::mm(out, (last + first + joined).t()).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = torch::roll(last, -x.size(0), 0);
      last.slice(0, length - x.size(0)).copy_(out.detach());
      const auto rows = out.size(0);
      first = first.roll(rows, 0);
      first.slice(0, 0, rows) = out.detach();
      joined = torch::cat({joined.slice(0, out.size(0)), out.detach()});
      total += loss.item<double>() * x.size(0);
    }
    std::printf("epoch %d %.9f %.9f %.9f %.9f\n", epoch, total / xs.size(0), last[7][1].item<double>(), first[7][1].item<double>(), joined[7][1].item<double>());
  }
  return 0;
}
