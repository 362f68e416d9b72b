// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Shapes that are compared, or filled into lists; columns that are joined, rows that are repeated.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::sin(torch::arange(44 * 20, torch::kDouble) * 0.37).view({44, 5, 4}), y = x.sum(2).sum(1, true).tanh();
};

struct NetImpl : torch::nn::Module {
  NetImpl() : first(20, 6), second(20, 6), head(12, 2) {
    register_module("first", first);
    register_module("second", second);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& x) {
// form: the shape of a batch compared with a list that has its rows
    TORCH_CHECK(x.sizes() == torch::IntArrayRef({x.size(0), 5, 4}), "rows of another shape");
// form: a shape in a list of the standard library
    const std::vector<int64_t> shape = {x.size(0), -1};
    const torch::Tensor flat = x.reshape(shape), again = x.view(std::vector<int64_t>{x.size(0), 20});
    rows += shape[0];
// form: columns joined by hstack
    const torch::Tensor both = torch::hstack({torch::relu(first(flat)), torch::tanh(second(again))});
    const torch::Tensor out = head(both);
// form: columns joined by column_stack, of one number for each sample
    return torch::column_stack({out.select(1, 0), out.select(1, 1) * 0.5}).sum(1, true);
  }
  int64_t rows = 0;
  torch::nn::Linear first, second, head;
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  Net net;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), static_cast<size_t>(size));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  double total = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      if (!batch.data.sizes().slice(1).equals({5, 4})) throw std::runtime_error("rows of another shape");
      optimizer.zero_grad();
// form: each row several times, by repeat_interleave
      const torch::Tensor out = net->forward(batch.data.repeat_interleave(2, 0));
      const torch::Tensor loss = torch::mse_loss(out, batch.target.repeat_interleave(2, 0));
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
  std::printf("%.9f %lld\n", total, static_cast<long long>(net->rows));
}
