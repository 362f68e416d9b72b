// e2e: scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=60
// SPDX-License-Identifier: Apache-2.0
//
// A step that is handed to a hvd::StepGraph and called from the loop over a loader, which uses its results.
#include <hvd/hvd.hpp>
#include <hvd/step_graph.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct NetImpl : hvd::nn::Module {
  hvd::nn::Linear first{nullptr}, second{nullptr};
  NetImpl() {
    first = register_module("first", hvd::nn::Linear(12, 16));
    second = register_module("second", hvd::nn::Linear(16, 4));
  }
  hvd::Tensor forward(const hvd::Tensor& x) { return second->forward(hvd::dropout(first->forward(x).relu(), 0.2, is_training())); }
};

class Rows : public hvd::data::Dataset {
 public:
  Rows(hvd::Tensor x, hvd::Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
  hvd::data::Example get(size_t i) override { return {x_[static_cast<int64_t>(i)], y_[static_cast<int64_t>(i)]}; }
  size_t size() const override { return static_cast<size_t>(x_.size(0)); }

 private:
  hvd::Tensor x_, y_;
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(1);
  NetImpl model;
  hvd::optim::SGD optimizer(model.parameters(), hvd::optim::SGDOptions(lr).momentum(0.9));
  hvd::optim::StepLR schedule(optimizer, 2, 0.5);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(Rows(hvd::randn({100, 12}), hvd::randint(0, 4, {100})),
                                                                      hvd::data::DataLoaderOptions(batch));
  hvd::StepGraph step([&](const std::vector<hvd::Tensor>& in) -> std::vector<hvd::Tensor> {
    optimizer.zero_grad();
    const hvd::Tensor scores = model.forward(in[0]);
    const hvd::Tensor loss = hvd::nn::functional::cross_entropy(scores, in[1]);
    loss.backward();
    optimizer.step();
    return {loss, scores.argmax(1).eq(in[1]).sum()};
  });
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    int64_t right = 0, seen = 0;
    for (auto& b : *loader) {
      const auto results = step({b.data.to(hvd::default_device()), b.target.to(hvd::default_device())});
      total += results[0].item<double>() * static_cast<double>(b.data.size(0));
      right += results[1].item<int64_t>();
      seen += b.data.size(0);
    }
    schedule.step();
    std::printf("epoch %d: loss %.12f, %lld of %lld right\n", epoch, total / static_cast<double>(seen), static_cast<long long>(right), static_cast<long long>(seen));
  }
  hvd::save(model, "step_graph.safetensors");
}
