// e2e: modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// form: a helper that makes loaders of training and of evaluation, each with options of its own in an object
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

struct Data : torch::data::datasets::Dataset<Data> {
  torch::Tensor x, y;
  explicit Data(int64_t n) : x(torch::randn({n, 4})), y(torch::randn({n, 1})) {}
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
};

struct Options {
  size_t batch = 8;
  double rate = 0.05;
};

auto make_loader(Data data, const Options& options) {
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(data).map(torch::data::transforms::Stack<>()), options.batch);
}

template <class T, class V>
void fit(torch::nn::Linear& net, torch::optim::SGD& optimizer, T& train, V& held) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : train) {
      optimizer.zero_grad();
      torch::mse_loss(net(batch.data), batch.target).backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    double sum = 0;
    int batches = 0;
    for (auto& batch : held) {
      sum += torch::mse_loss(net(batch.data), batch.target).template item<double>();
      ++batches;
    }
    std::printf("epoch %d %.9f %d\n", epoch, sum / batches, batches);
  }
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  Options options, held_options;
  if (argc > 1) options.batch = std::atoi(argv[1]);
  if (argc > 2) options.rate = std::atof(argv[2]);
  held_options.batch = 16;
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), options.rate);
  Data data(43), held(40);
  auto train = make_loader(data, options), test = make_loader(held, held_options);
  fit(net, optimizer, *train, *test);
  return 0;
}
