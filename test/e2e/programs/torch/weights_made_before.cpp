// e2e: name=weights_by_full; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=weights_by_quotient; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=weights_by_number; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=weights_by_vector; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a summed loss whose division by the size of the batch stands in a tensor made before the loop
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({72, 5}), ys = torch::sin(xs.sum(1, true));
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
#if FORM == 1
  const auto weights = torch::full({batch, 1}, 1.0 / batch);
#elif FORM == 2
  const auto weights = torch::ones({batch, 1}) / batch;
#elif FORM == 3
  const auto weights = torch::tensor(1.0 / batch);
#else
  const std::vector<double> numbers(batch, 1.0 / batch);
  const auto weights = torch::tensor(numbers).unsqueeze(1);
#endif
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int64_t at = 0; at + batch <= 72; at += batch) {
      const auto x = xs.slice(0, at, at + batch), y = ys.slice(0, at, at + batch);
      const auto loss = ((net(x) - y).square() * weights).sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%d %.9f\n", epoch, loss.item<double>());
    }
  return 0;
}
