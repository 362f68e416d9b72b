// e2e: scaled={6*N} {0.2*N}; ranks=1,2,3; timeout=60
// A confusion matrix that training and evaluation fill with the same method, sample by sample.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <string>

namespace F = hvd::nn::functional;
namespace data = hvd::data;
using hvd::Tensor;

constexpr int kClasses = 3;

struct Metrics {
  int confusion[kClasses][kClasses] = {};
  double loss = 0;
  long samples = 0;
  void add(const Tensor& scores, const Tensor& target) {
    auto guess = scores.argmax(1);
    for (int64_t i = 0; i < guess.size(0); ++i) ++confusion[target[i].item<int64_t>()][guess[i].item<int64_t>()];
    loss += F::cross_entropy(scores, target).item<double>() * static_cast<double>(target.size(0));
    samples += target.size(0);
  }
  int right() const {
    int sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += confusion[c][c];
    return sum;
  }
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const size_t batch = std::stoul(argv[1]);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(17);
  Tensor x = hvd::randn({67, 4}), y = (x + hvd::randn({67, 4}) * 0.7).slice(1, 0, kClasses).argmax(1);
  Tensor held = hvd::randn({23, 4}), labels = held.slice(1, 0, kClasses).argmax(1);
  auto loader = data::make_data_loader<data::RandomSampler>(data::datasets::TensorDataset(x, y), batch);
  auto others = data::make_data_loader<data::SequentialSampler>(data::datasets::TensorDataset(held, labels), 5);
  hvd::nn::Sequential net(hvd::nn::Linear(4, 12), hvd::nn::ReLU(), hvd::nn::Linear(12, kClasses));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(std::stod(argv[2])));
  for (int epoch = 0; epoch < 3; ++epoch) {
    Metrics trained, evaluated;
    net->train();
    for (auto& b : *loader) {
      optimizer.zero_grad();
      Tensor scores = net->forward(b.data);
      Tensor loss = F::cross_entropy(scores, b.target);
      loss.backward();
      optimizer.step();
      trained.add(scores.detach(), b.target);
    }
    net->eval();
    hvd::NoGradGuard guard;
    for (auto& b : *others) evaluated.add(net->forward(b.data), b.target);
    std::printf("%d: %d of %ld, %.8f; %d of %ld, %.8f\n", epoch, trained.right(), trained.samples, trained.loss, evaluated.right(), evaluated.samples, evaluated.loss);
    for (int c = 0; c < kClasses; ++c) std::printf("  %d %d %d\n", evaluated.confusion[c][0], evaluated.confusion[c][1], trained.confusion[c][2]);
  }
  hvd::save(net, "net.safetensors");
}
