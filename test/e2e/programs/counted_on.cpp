// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// A count of samples that is counted down, in a parameter and in a variable; a helper that makes a weight for each sample of its batch.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace F = hvd::nn::functional;
namespace data = hvd::data;
using hvd::Tensor;

static long count_hits(const int64_t* guess, const int64_t* target, int64_t n) {
  long hits = 0;
  while (n-- > 0) hits += *guess++ == *target++;
  return hits;
}

static long pairs_in(const Tensor& rows) {
  int64_t left = rows.size(0);
  long pairs = 0;
  while (left > 1) {
    left -= 2;
    ++pairs;
  }
  return pairs;
}

static Tensor falling(const Tensor& rows) {
  std::vector<double> weights;
  for (int64_t i = 0; i < rows.size(0); ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
  return hvd::tensor(weights);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(12);
  const size_t batch = std::stoul(argv[1]);
  Tensor x = hvd::randn({43, 6}), y = x.slice(1, 0, 3).argmax(1);
  auto loader = data::make_data_loader<data::RandomSampler>(data::datasets::TensorDataset(x, y), batch);
  hvd::nn::Sequential net(hvd::nn::Linear(6, 10), hvd::nn::Tanh(), hvd::nn::Linear(10, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::stod(argv[2])));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    long hits = 0, pairs = 0, batches = 0;
    for (auto& b : *loader) {
      Tensor in = b.data * falling(b.data).unsqueeze(1);
      opt.zero_grad();
      Tensor out = net->forward(in);
      Tensor loss = F::cross_entropy(out, b.target);
      loss.backward();
      opt.step();
      Tensor guess = out.argmax(1), target = b.target;
      hits += count_hits(guess.data_ptr<int64_t>(), target.data_ptr<int64_t>(), b.data.size(0));
      pairs += pairs_in(b.data);
      total += loss.item<double>();
      ++batches;
    }
    std::printf("epoch %d: loss %.9f, %ld right, %ld pairs\n", epoch, total / batches, hits, pairs);
  }
  hvd::save(net, "net.safetensors");
}
