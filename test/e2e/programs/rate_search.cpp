// e2e: scaled={8*N} {0.1*N} {0.03*N}; ranks=1,2,3; timeout=60
// A search over rates whose results are kept and read again, a rate from a function that returns two numbers, and rates that are compared
// with a bound: each number is scaled once.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

namespace nn = hvd::nn;
namespace F = hvd::nn::functional;
namespace data = hvd::data;

struct Result {
  double rate;
  int width;
  double loss;
};

double fit(std::size_t batch, double rate, int width, int epochs, double least, const std::string& path) {
  hvd::manual_seed(static_cast<std::uint64_t>(width));
  hvd::Tensor x = hvd::randn({45, 4}), y = x.sum(1, true).tanh();
  auto loader = data::make_data_loader(data::datasets::TensorDataset(x, y), data::DataLoaderOptions().batch_size(batch));
  nn::Sequential net(nn::Linear(4, width), nn::Tanh(), nn::Linear(width, 1));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  double sum = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    sum = 0;
    for (auto& b : *loader) {
      optimizer.zero_grad();
      hvd::Tensor loss = F::mse_loss(net->forward(b.data), b.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(b.data.size(0));
    }
    optimizer.set_lr(0.7 * optimizer.lr());
    if (optimizer.lr() < least) break;
  }
  if (!path.empty()) hvd::save(net, path);
  return sum / 45;
}

double base = 1;

std::tuple<double, int> begin(double rate, int width) { return {0.5 * rate, 2 * width}; }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::size_t batch = std::stoul(argv[1]);
  const double rate = std::stod(argv[2]), least = std::stod(argv[3]);
  base = std::stod(argv[2]);
  hvd::set_default_dtype(hvd::kFloat64);

  // A search: results over rates, kept in records and read again
  std::vector<Result> results;
  for (double tried : {0.5 * base, base, 2 * base})
    for (int width : {3, 5}) results.push_back({tried, width, fit(batch, tried, width, 2, 0.0, "")});
  std::sort(results.begin(), results.end(), [](const Result& a, const Result& b) { return a.loss < b.loss; });
  for (const Result& r : results) std::printf("%g %d %.8f\n", r.rate, r.width, r.loss);
  std::printf("best %.8f\n", fit(batch, results[0].rate, results[0].width, 3, 0.0, "best.safetensors"));

  // The last of a list of rates
  std::vector<double> list;
  for (double tried : {0.3 * rate, 0.6 * rate}) {
    std::printf("%.8f\n", fit(batch, tried, 4, 1, 0.0, ""));
    list.push_back(tried);
  }
  std::printf("last %.8f\n", fit(batch, list.back(), 4, 2, 0.0, "last.safetensors"));

  // A rate that a function returns with another number
  auto [first, width] = begin(rate, 3);
  std::printf("bound %.8f\n", fit(batch, first, width, 2, 0.0, "bound.safetensors"));

  // Rounds that end when the rate is small
  int rounds = 0;
  for (double falling = rate; falling > least; falling *= 0.6, ++rounds) std::printf("round %.8f\n", fit(batch, falling, 3, 5, least, "round.safetensors"));
  std::printf("%d rounds\n", rounds);
}
