// e2e: name=rate_found; args=; scaled={8*N} {0.1*N} 0.9; ranks=1,2,3; timeout=60
// e2e: name=rate_kept; args=; scaled={8*N} {0.1*N} 0; ranks=1,2,3; timeout=60
// A rate that is the given one, or one that a search has found: both are scaled, once.
#include <hvd/hvd.hpp>

#include <cstdlib>

namespace F = hvd::nn::functional;

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1, enough = argc > 3 ? std::atof(argv[3]) : 0;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  auto x = hvd::randn({75, 5}), y = (x.matmul(hvd::randn({5, 3})) + 0.4 * hvd::randn({75, 3})).argmax(1);
  hvd::nn::Sequential net(hvd::nn::Linear(5, 8), hvd::nn::Tanh(), hvd::nn::Linear(8, 3));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch));
  double best_rate = rate, tried = rate * 0.1, best = enough;
  {
    hvd::optim::SGD probe(net->parameters(), hvd::optim::SGDOptions(tried));
    for (auto& b : *loader) {
      probe.set_lr(tried);
      auto loss = F::cross_entropy(net->forward(b.data), b.target);
      probe.zero_grad();
      loss.backward();
      probe.step();
      if (loss.item<double>() < best) {
        best = loss.item<double>();
        best_rate = tried;
      }
      tried *= 1.3;
    }
  }
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(best_rate / 10));
  for (auto& b : *loader) {
    auto loss = F::cross_entropy(net->forward(b.data), b.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  hvd::save(net, "net.safetensors");
}
