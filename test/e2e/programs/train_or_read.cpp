// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// One template that trains in one instantiation and evaluates in another; and one that hands the batches of any loader to a function.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <string>

namespace F = hvd::nn::functional;
namespace data = hvd::data;
using hvd::Tensor;

template <bool Train, class Loader>
double epoch(hvd::nn::Sequential& net, Loader& loader, hvd::optim::SGD& opt) {
  double sum = 0;
  int64_t samples = 0;
  net->train(Train);
  for (auto& batch : loader) {
    auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
    if constexpr (Train) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    sum += loss.template item<double>() * static_cast<double>(batch.data.size(0));
    samples += batch.data.size(0);
  }
  return sum / static_cast<double>(samples);
}

template <class Loader, class Visit>
void each(Loader& loader, Visit visit) {
  for (auto& batch : loader) visit(batch);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  Tensor x = hvd::randn({44, 4}), y = x.slice(1, 0, 3).argmax(1);
  auto loader = data::make_data_loader<data::RandomSampler>(data::datasets::TensorDataset(x, y), std::stoul(argv[1]));
  auto test = data::make_data_loader<data::SequentialSampler>(data::datasets::TensorDataset(x.slice(0, 0, 21), y.slice(0, 0, 21)), 5);
  hvd::nn::Sequential net(hvd::nn::Linear(4, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::stod(argv[2])));
  for (int e = 0; e < 2; ++e) {
    const double trained = epoch<true>(net, *loader, opt), held = epoch<false>(net, *test, opt);
    std::printf("%.9f %.9f\n", trained, held);
  }
  double sum = 0, right = 0;
  each(*loader, [&](const data::Example& batch) {
    auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
  });
  each(*test, [&](const data::Example& batch) { right += net->forward(batch.data).argmax(1).eq(batch.target).sum().item<double>(); });
  std::printf("%.9f %.0f\n", sum, right);
  hvd::save(net, "net.safetensors");
}
