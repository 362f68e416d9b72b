// e2e: modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// form: rows that are counted while a stream is read, until there are as many as a batch has
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  std::stringstream text;
  for (int i = 0; i < 45; ++i) text << (i % 5 - 2) << ' ' << (i % 7 / 3.0) << ' ' << (i % 4 / 2.0) << '\n';
  torch::nn::Linear net(2, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  std::vector<double> features(static_cast<size_t>(batch) * 2), scores(static_cast<size_t>(batch));
  for (;;) {
    int64_t got = 0;
    while (got < batch && text >> features[got * 2] >> features[got * 2 + 1] >> scores[got]) ++got;
    if (got == 0) break;
    const auto x = torch::from_blob(features.data(), {got, 2}, torch::kDouble).clone(), y = torch::from_blob(scores.data(), {got, 1}, torch::kDouble).clone();
    const auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%lld rows, loss %.9f\n", static_cast<long long>(got), loss.item<double>());
  }
  return 0;
}
