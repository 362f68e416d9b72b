// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Labels that are made once, as many as a first batch has rows; weights that a product takes from the left, stretched over the samples.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// form: weights on the left of a product of matrices, one for each sample
struct CapsulesImpl : torch::nn::Module {
  CapsulesImpl() : in(6, 12), out(10, 1) {
    register_module("in", in);
    register_module("out", out);
    weight = register_parameter("weight", torch::randn({5, 4, 2, 3}) * 0.3);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor parts = in->forward(x).view({x.size(0), 4, 3});
    const torch::Tensor votes = torch::matmul(weight.unsqueeze(0), parts.unsqueeze(1).unsqueeze(-1));
    return out->forward(votes.squeeze(-1).sum(2).flatten(1));
  }
  torch::nn::Linear in, out;
  torch::Tensor weight;
};
TORCH_MODULE(Capsules);

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(1);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::randn({53, 6});
  auto data = torch::data::datasets::TensorDataset(x.unbind(0)).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(data), torch::data::DataLoaderOptions(batch_size).drop_last(true));
  Capsules net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));

// form: labels as many as a first batch has rows
  const int64_t rows = loader->begin()->data.size(0);
  const torch::Tensor real = torch::rand({rows, 1});
  torch::Tensor first;
  for (auto& batch : *loader) {
    first = batch.data;
    break;
  }
  const auto shape = net->forward(first).sizes().vec();
  const torch::Tensor fake = torch::zeros(shape);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor scores = net->forward(batch.data);
      const torch::Tensor loss = torch::mse_loss(scores, real) + 0.1 * torch::mse_loss(scores, fake);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("%d %.9f\n", epoch, total);
  }
  torch::save(net, "net.pt");
}
