// e2e: name=schedule; edit=DataLoaderOptions(8) => DataLoaderOptions({8*N}); edit=lr0 = 0.05 => lr0 = {0.05*N}; edit=kTrain / 8 => kTrain / {8*N}; edit=*set.size() / 8 => *set.size() / {8*N}; ranks=1,2,3; timeout=120
// form: `set.size() / 64`, `rows / 64` with the size of the data set, where 64 is the batch size in the options of the loader: batches of the global batch
#include <torch/torch.h>

#include <cmath>
#include <cstdio>

constexpr int64_t kTrain = 72;

struct Points : torch::data::datasets::Dataset<Points> {
  torch::Tensor x = torch::sin(torch::arange(kTrain * 4, torch::kDouble) * 0.37).view({kTrain, 4}), y = torch::arange(kTrain).remainder(3);
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  torch::optional<size_t> size() const override { return kTrain; }
};

// The size of the batches is written where the loader is made, and once more where they are counted.
int main() {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(6);
  torch::nn::Linear net(4, 3);
  auto set = Points().map(torch::data::transforms::Stack<>());
  const size_t shown = *set.size() / 8;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(set), torch::data::DataLoaderOptions(8));
  const double lr0 = 0.05;
  torch::optim::SGD optimizer(net->parameters(), lr0);
  const int epochs = 4;
  const int64_t total_steps = epochs * (kTrain / 8);
  int64_t step = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      for (auto& group : optimizer.param_groups()) group.options().set_lr(lr0 * 0.5 * (1 + std::cos(3.14159265358979 * step / total_steps)));
      auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++step;
    }
    std::printf("%d %.10f\n", epoch, sum / shown);
  }
}
