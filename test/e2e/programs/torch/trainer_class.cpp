// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; scaled={10*N} {0.1*N}; ranks=1,2,3; timeout=120
// A class holds model and optimizer by smart pointers; backward in one method, step in another; two micro-batches per step; a summed metric, a
// confusion matrix on the host, time spent, a save inside the epoch loop.
// form: Trainer class with members
// form: optimizer in a unique_ptr
// form: shared_ptr to a Sequential
// form: backward in one method and step in another
// form: exceptions that end the program
#include <torch/torch.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace {

struct Options {
  int64_t batch;
  double rate;
  int epochs = 2;
};

struct Blobs : torch::data::datasets::Dataset<Blobs> {
  torch::data::Example<> get(size_t i) override {
    const auto k = static_cast<int64_t>(i % 3);
    auto x = torch::full({5}, static_cast<double>(k) - 1.0, torch::kDouble) + 0.8 * torch::sin(torch::arange(5, torch::kDouble) * 0.9 + static_cast<double>(i));
    return {x, torch::tensor(k)};
  }
  torch::optional<size_t> size() const override { return 100; }
};

class Trainer {
 public:
  explicit Trainer(const Options& options) : options_(options) {
    model_ = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(5, 10), torch::nn::Tanh(), torch::nn::Linear(10, 3));
    model_->to(torch::kDouble);
    optimizer_ = std::make_unique<torch::optim::SGD>(model_->parameters(), torch::optim::SGDOptions(options_.rate));
  }

  void run() {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Blobs().map(torch::data::transforms::Stack<>()), options_.batch);
    const auto start = std::chrono::steady_clock::now();
    for (int epoch = 1; epoch <= options_.epochs; ++epoch) {
      double loss = 0;
      int64_t right = 0, seen = 0, micro = 0;
      for (auto& batch : *loader) {
        loss += accumulate(batch.data, batch.target, right);
        seen += batch.target.size(0);
        if (++micro % 2 == 0) update();
      }
      update();
      std::cout << "epoch " << epoch << ": loss " << loss / micro << ", accuracy " << static_cast<double>(right) / seen << std::endl;
      torch::save(model_, "model-" + std::to_string(epoch) + ".pt");
      const auto spent = std::chrono::duration_cast<std::chrono::minutes>(std::chrono::steady_clock::now() - start).count();
      if (spent > 30) break;
    }
    confusion();
    for (const auto& p : model_->named_parameters()) std::cout << p.key() << ' ' << p.value().sum().item<double>() << '\n';
  }

 private:
  double accumulate(const torch::Tensor& x, const torch::Tensor& y, int64_t& right) {
    auto output = model_->forward(x);
    auto loss = criterion_(output, y);
    (loss / 2).backward();
    right += (output.argmax(1) == y).sum().item<int64_t>();
    return loss.item<double>();
  }

  void update() {
    optimizer_->step();
    optimizer_->zero_grad();
  }

  void confusion() {
    torch::NoGradGuard no_grad;
    std::array<std::array<int, 3>, 3> table{};
    Blobs data;
    for (size_t i = 0; i < 30; ++i) {
      auto sample = data.get(i);
      const auto said = model_->forward(sample.data.unsqueeze(0)).argmax(1).item<int64_t>();
      ++table[sample.target.item<int64_t>()][said];
    }
    for (const auto& row : table) std::cout << row[0] << ' ' << row[1] << ' ' << row[2] << '\n';
  }

  Options options_;
  torch::nn::CrossEntropyLoss criterion_;
  std::shared_ptr<torch::nn::SequentialImpl> model_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: trainer BATCH RATE\n";
    return 2;
  }
  torch::manual_seed(21);
  std::cout.precision(11);
  try {
    Trainer(Options{std::atol(argv[1]), std::atof(argv[2])}).run();
  } catch (const std::exception& e) {
    std::cerr << "failed: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
