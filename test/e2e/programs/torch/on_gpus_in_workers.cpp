// SPDX-License-Identifier: Apache-2.0
// e2e: gpus=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// The GPU named by the data sets, whose samples are made by threads of the loader, or by a thread of the program: where nobody has chosen, the
// current GPU of a thread is the first one.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>

struct Points : torch::data::datasets::Dataset<Points> {
  explicit Points(int64_t rows) : inputs(torch::randn({rows, 6})), labels(inputs.sum(1).gt(0).to(torch::kLong)) {}
// form: samples that a data set moves to the GPU, in the threads of its loader
  torch::data::Example<> get(size_t i) override {
    const auto x = inputs[static_cast<int64_t>(i)].to(torch::kCUDA);
    return {x * torch::full({6}, 0.5, torch::dtype(torch::kDouble).device(torch::kCUDA)), labels[static_cast<int64_t>(i)].to(at(torch::kCUDA))};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(inputs.size(0)); }
  static torch::Device at(torch::Device device) { return device; }
  torch::Tensor inputs, labels;
};

int main(int, char** argv) {
  const int64_t size = std::atoll(argv[1]);
  torch::manual_seed(4);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  torch::nn::Sequential net(torch::nn::Linear(6, 8), torch::nn::Tanh(), torch::nn::Linear(8, 2));
  net->to(torch::kCUDA);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Points(50).map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(size).workers(2));
// form: a tensor that a thread of the program makes on the GPU
  auto weights = std::async(std::launch::async, [] { return torch::tensor({1.0, 2.0}, torch::dtype(torch::kDouble)).to(torch::kCUDA); }).get();
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    int64_t right = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const auto out = net->forward(batch.data);
      const auto loss = (torch::nn::functional::cross_entropy(out, batch.target, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone)) * weights[0]).mean();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
      right += out.argmax(1).eq(batch.target).sum().item<int64_t>();
    }
    std::printf("epoch %d %.10f %lld\n", epoch, sum / 50, static_cast<long long>(right));
  }
  torch::save(net, "net.pt");
}
