// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: loaders of training and of evaluation that one helper makes with a size each, both handed to the function that trains and evaluates
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct Data : torch::data::datasets::Dataset<Data> {
  torch::Tensor x, y;
  explicit Data(int n) : x(torch::randn({n, 4})), y(torch::randn({n, 1})) {}
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
};

auto make_loader(const Data& data, size_t size) {
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Data(data).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(size));
}

template <class Training, class Held>
void fit(torch::nn::Linear& net, torch::optim::SGD& optimizer, Training& training, Held& held) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : training) {
      auto loss = torch::mse_loss(net(batch.data), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    double total = 0;
    int batches = 0;
    for (auto& batch : held) {
      total += torch::mse_loss(net(batch.data), batch.target).template item<double>();
      ++batches;
    }
    std::printf("epoch %d loss %.9f of %d batches\n", epoch, total / batches, batches);
  }
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const Data data(43), others(40);
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  auto training = make_loader(data, argc > 1 ? std::atoi(argv[1]) : 8);
  auto held = make_loader(others, 16);
  fit(net, optimizer, *training, *held);
  torch::save(net, "net.pt");
  return 0;
}
