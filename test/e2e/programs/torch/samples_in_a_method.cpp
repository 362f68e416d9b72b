// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// form: single samples read by the host in a function that is given the batch
// A confusion matrix that is filled sample by sample in the method which makes the step: the loop over the loader stands elsewhere.
#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

struct Rows : torch::data::datasets::Dataset<Rows> {
  Rows() {
    x = torch::sin(torch::arange(250, torch::kDouble) * 0.73).reshape({50, 5});
    y = torch::arange(50).mul(7).remainder(3);
  }
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return static_cast<size_t>(x.size(0)); }
  torch::Tensor x, y;
};

class Trainer {
 public:
  explicit Trainer(double rate)
      : net_(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3)), optimizer_((net_->to(torch::kDouble), net_->parameters()), rate) {}
  void step(const torch::data::Example<>& batch) {
    const auto out = net_->forward(batch.data);
    auto loss = torch::nn::functional::cross_entropy(out, batch.target);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
    const auto guess = out.argmax(1);
    for (int64_t i = 0; i < guess.size(0); ++i) {
      const auto truth = batch.target[i].item<int64_t>();
      ++confusion_[static_cast<std::size_t>(truth * 3 + guess[i].item<int64_t>())];
    }
  }
  void show() const {
    for (const int64_t n : confusion_) std::cout << n << ' ';
    std::cout << '\n';
  }
  void save() { torch::save(net_, "net.pt"); }

 private:
  torch::nn::Sequential net_;
  torch::optim::SGD optimizer_;
  std::array<int64_t, 9> confusion_{};
};

int main(int argc, char** argv) {
  const std::int64_t batch_size = argc > 1 ? std::stoll(argv[1]) : 8;
  torch::manual_seed(1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows().map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(batch_size));
  Trainer trainer(argc > 2 ? std::stod(argv[2]) : 0.1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : *loader) trainer.step(batch);
    trainer.show();
  }
  trainer.save();
}
