// SPDX-License-Identifier: Apache-2.0
// e2e: args=; edit=kBatch = 6 => kBatch = {6*N}; edit=kRate = 0.05 => kRate = {0.05*N}
// Evaluation in many forms: what combines over ranks is shared out, the rest is done by all ranks alike. The last test batch has one row.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>

constexpr int64_t kBatch = 6;
constexpr double kRate = 0.05;
constexpr int64_t kClasses = 10;

namespace F = hvd::nn::functional;

struct NetImpl : hvd::nn::Module {
  NetImpl()
      : hidden(register_module("hidden", hvd::nn::Linear(28 * 28, 24))), drop(register_module("drop", hvd::nn::Dropout(0.2))),
        out(register_module("out", hvd::nn::Linear(24, kClasses))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return out(drop(hidden(x.view({x.size(0), 28 * 28})).relu())); }
  hvd::nn::Linear hidden;
  hvd::nn::Dropout drop;
  hvd::nn::Linear out;
};
HVD_MODULE(Net);

struct Score {
  double loss = 0, accuracy = 0;
};

// The usual form: sums over samples, divided at the end.
Score usual(Net& net, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->eval();
  double loss = 0;
  int64_t correct = 0, seen = 0;
  for (const auto& batch : loader) {
    const auto scores = net->forward(batch.data);
    loss += F::cross_entropy(scores, batch.target, F::CrossEntropyFuncOptions().reduction(hvd::kSum)).item<double>();
    correct += scores.argmax(1).eq(batch.target).sum().item<int64_t>();
    seen += batch.data.size(0);
  }
  return {loss / seen, static_cast<double>(correct) / static_cast<double>(loader.dataset_size())};
}

// Means of batches, averaged over batches; the mode is set by the caller.
template <typename Loader>
double mean_of_means(Net& net, Loader& loader) {
  double total = 0;
  int batches = 0;
  for (auto& [images, labels] : loader) {
    auto loss = F::cross_entropy(net(images), labels);
    total += loss.template item<double>();
    ++batches;
    if (batches % 2 == 0) std::cout << "  batch " << batches << " of " << loader.size() << ": " << loss.template item<double>() << "\n";
  }
  return total / batches;
}

// Extrema, tensors that add up, an early end.
void details(Net& net, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->train(false);
  double largest = -1e30, smallest = 1e30;
  hvd::Tensor total = hvd::zeros({kClasses});
  int rounds = 0;
  for (auto it = loader.begin(); it != loader.end(); ++it) {
    const auto p = net->forward(it->data).softmax(1);
    largest = std::max(largest, p.max().item<double>());
    if (p.min().item<double>() < smallest) smallest = p.min().item<double>();
    total += p.sum(0);
    if (++rounds == 3) break;
  }
  std::printf("largest %.12g, smallest %.12g, rounds %d\n", largest, smallest, rounds);
  for (int64_t c = 0; c < kClasses; ++c) std::printf("%.12g%s", total[c].item<double>(), c + 1 < kClasses ? " " : "\n");
}

// One row per sample, collected and joined.
hvd::Tensor predictions(Net& net, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->eval();
  std::vector<hvd::Tensor> all;
  for (auto& batch : loader) all.push_back(net->forward(batch.data).argmax(1));
  return hvd::cat(all);
}

// Sample by sample: every rank looks at all of them.
std::map<int64_t, int> histogram(Net& net, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->eval();
  std::map<int64_t, int> count;
  for (auto& batch : loader) {
    const auto guess = net->forward(batch.data).argmax(1);
    for (int64_t i = 0; i < guess.size(0); ++i) ++count[guess[i].item<int64_t>()];
  }
  return count;
}

std::vector<int64_t> through_memory(Net& net, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->eval();
  std::vector<int64_t> all;
  for (auto& batch : loader) {
    const auto guess = net->forward(batch.data).argmax(1).contiguous();
    all.insert(all.end(), guess.data_ptr<int64_t>(), guess.data_ptr<int64_t>() + guess.numel());
  }
  return all;
}

// Not in evaluation mode: batch norm mixes the samples of a batch, and dropout is on.
double noisy(Net& net, hvd::nn::BatchNorm2d& norm, hvd::data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  net->train();
  double sum = 0;
  for (auto& batch : loader) sum += net->forward(norm->forward(batch.data)).sum().item<double>();
  return sum;
}

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  Net net;
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::Digits(50, 31), hvd::data::DataLoaderOptions(kBatch));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(hvd::data::datasets::Digits(37, 32), hvd::data::DataLoaderOptions(9));
  auto again = hvd::data::make_data_loader(hvd::data::datasets::Digits(21, 33), hvd::data::DataLoaderOptions().batch_size(5).drop_last(true));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(kRate).momentum(0.9));

  // Statistics of the data before training.
  double sum = 0, squares = 0;
  int64_t numbers = 0;
  for (auto& batch : *test) {
    sum += batch.data.sum().item<double>();
    squares += batch.data.pow(2).sum().item<double>();
    numbers += batch.data.numel();
  }
  const double mean = sum / numbers, deviation = std::sqrt(squares / numbers - mean * mean);
  std::cout.precision(12);
  std::cout << "mean " << mean << ", deviation " << deviation << std::endl;

  double best = 1e30;
  int patience = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    net->train();
    for (auto& batch : *loader) {
      opt.zero_grad();
      F::cross_entropy(net->forward(batch.data), batch.target).backward();
      opt.step();
    }
    const Score score = usual(net, *test);
    std::cout << "epoch " << epoch << ": loss " << score.loss << ", accuracy " << score.accuracy << "\n";
    net->eval();
    std::cout << "means " << mean_of_means(net, *test) << " " << mean_of_means(net, *again) << "\n";
    details(net, *test);
    if (score.loss < best) {
      best = score.loss;
      patience = 0;
      hvd::save(net, "best.safetensors");
    } else if (++patience == 2) {
      break;
    }
  }
  const hvd::Tensor all = predictions(net, *test);
  std::cout << all.size(0) << " predictions, first " << all[0].item<int64_t>() << ", sum " << all.sum().item<int64_t>() << "\n";
  for (const auto& [digit, count] : histogram(net, *test)) std::cout << digit << ": " << count << "\n";
  const auto guesses = through_memory(net, *test);
  std::cout << guesses.size() << " guesses\n";
  hvd::nn::BatchNorm2d norm(1);
  std::cout << "noisy " << noisy(net, norm, *test) << "\n";
  const auto count_right = [&](hvd::data::DataLoader& which) {
    int64_t right = 0;
    net->eval();
    for (auto& b : which) right += (net->forward(b.data).argmax(1) == b.target).sum().item<int64_t>();
    return right;
  };
  std::cout << count_right(*loader) << " of " << loader->dataset_size() << ", " << count_right(*test) << " of " << test->dataset_size() << "\n";
}
