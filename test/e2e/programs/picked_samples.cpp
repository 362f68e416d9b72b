// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=rate = 0.1 => rate = {0.1*N}; timeout=60
// What the host reads of single samples while it trains: a count of hits row by row, hits per class, the first sample and the worst one in a
// print. And a loss that is asked for again and again in a step.
#include <hvd/hvd.hpp>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  const int64_t n = 53, batch = 8;
  const double rate = 0.1;
  auto x = hvd::randn({n, 5});
  auto c = x.matmul(hvd::randn({5, 3})).argmax(1);
  hvd::nn::Sequential net(hvd::nn::Linear(5, 7), hvd::nn::Tanh(), hvd::nn::Linear(7, 3));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, c), hvd::data::DataLoaderOptions(batch));
  std::cout.precision(11);
  double least = 1e9, sum = 0;
  int64_t steps = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    int64_t hits = 0, rows = 0;
    std::vector<int64_t> of_class(3, 0), hit_of_class(3, 0);
    for (auto& b : *loader) {
      auto labels = b.target;
      auto out = net->forward(b.data);
      auto loss = hvd::nn::functional::cross_entropy(out, labels);
      if (std::isnan(loss.item<double>())) return 3;
      opt.zero_grad();
      loss.backward();
      opt.step();
      sum += loss.item<double>();
      if (loss.item<double>() < least) least = loss.item<double>();
      auto predicted = out.argmax(1);
      for (int64_t i = 0; i < labels.size(0); ++i) {
        const auto answer = labels[i].item<int64_t>();
        of_class[answer] += 1;
        if (predicted[i].item<int64_t>() == answer) ++hits, hit_of_class[answer] += 1;
        ++rows;
      }
      if (++steps % 4 == 0) {
        std::cout << "step " << steps << " loss " << loss.item<double>() << " first " << labels[0].item<int64_t>() << " as " << out[0] << "\n";
        const auto last = b.data[b.data.size(0) - 1];
        std::cout << "last " << last << " sum " << last.sum().item<double>() << "\n";
      }
    }
    std::cout << "epoch " << epoch << " " << hits << "/" << rows;
    for (int k = 0; k < 3; ++k) std::cout << " " << hit_of_class[k] << "/" << of_class[k];
    std::cout << " " << sum << " " << least << "\n";
  }
  hvd::save(net, "net.safetensors");
}
