// SPDX-License-Identifier: Apache-2.0
// e2e: name=repeated_getter; cxx=-DFORM=1; scaled={8*N} {0.1*N}; ranks=1,3; timeout=120
// e2e: name=repeated_reading; cxx=-DFORM=2; scaled={8*N} {0.1*N}; ranks=1,3; timeout=120
// e2e: name=repeated_macro; cxx=-DFORM=3; edit=BATCH_SIZE 8 => BATCH_SIZE {8*N}; edit=RATE 0.1 => RATE {0.1*N}; ranks=1,2,3; timeout=120
// e2e: name=repeated_template; cxx=-DFORM=4; edit=run<8> => run<{8*N}>; edit=RATE 0.1 => RATE {0.1*N}; ranks=1,3; timeout=120
// e2e: name=repeated_enumerator; cxx=-DFORM=5; edit=kBatch = 8 => kBatch = {8*N}; edit=RATE 0.1 => RATE {0.1*N}; ranks=1,3; timeout=120
// form: a batch size that the program computes at several places
// A getter, an argument that is read twice, a macro, a template parameter, an enumerator: one number, and scaled wherever it stands. The steps of a
// schedule and the mean that is printed depend on it.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

#define BATCH_SIZE 8
#define RATE 0.1

enum Settings : int64_t { kBatch = 8, kEpochs = 2 };

struct Options {
  Options(int argc, char** argv) : batch_(argc > 1 ? std::atoll(argv[1]) : 8), rate_(argc > 2 ? std::atof(argv[2]) : 0.1) {}
  int64_t batch() const { return batch_; }
  double rate() const { return rate_; }

 private:
  int64_t batch_;
  double rate_;
};

template <int64_t Batch>
void run(double rate) {
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  auto x = torch::randn({50, 4}, torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  double sum = 0;
  for (int64_t at = 0; at + Batch <= 50; at += Batch) {
    auto rows = x.narrow(0, at, Batch);
    optimizer.zero_grad();
    auto loss = net(rows).pow(2).sum() / Batch;
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  std::cout << std::setprecision(10) << sum / static_cast<double>(50 / Batch) << '\n';
  torch::save(net, "net.pt");
}

int main(int argc, char** argv) {
  torch::manual_seed(3);
#if FORM == 4
  run<8>(RATE);
#else
#if FORM == 1
  const Options options(argc, argv);
  const double rate = options.rate();
#elif FORM == 2
  if (argc < 3) argc = 3, argv = new char*[4]{argv[0], const_cast<char*>("8"), const_cast<char*>("0.1"), nullptr};
  const double rate = std::stod(argv[2]);
#else
  const double rate = RATE;
#endif
  auto x = torch::randn({50, 4}, torch::kDouble);
  auto set = torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>());
#if FORM == 1
  auto loader = torch::data::make_data_loader(set, torch::data::DataLoaderOptions().batch_size(options.batch()));
  const int64_t steps = (50 + options.batch() - 1) / options.batch();
#elif FORM == 2
  auto loader = torch::data::make_data_loader(set, torch::data::DataLoaderOptions().batch_size(std::stoll(argv[1])));
  const int64_t steps = (50 + std::stoll(argv[1]) - 1) / std::stoll(argv[1]);
#elif FORM == 3
  auto loader = torch::data::make_data_loader(set, torch::data::DataLoaderOptions().batch_size(BATCH_SIZE));
  const int64_t steps = (50 + BATCH_SIZE - 1) / BATCH_SIZE;
#else
  auto loader = torch::data::make_data_loader(set, torch::data::DataLoaderOptions().batch_size(kBatch));
  const int64_t steps = (50 + kBatch - 1) / kBatch;
#endif
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  int64_t step = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = net(batch.data).pow(2).mean() * (1.0 - 0.4 * static_cast<double>(step++) / static_cast<double>(kEpochs * steps));
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    std::cout << std::setprecision(10) << sum / static_cast<double>(steps) << '\n';
  }
  torch::save(net, "net.pt");
#endif
}
