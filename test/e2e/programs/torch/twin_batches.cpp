// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Two tensors of a batch go through a network as one, and are taken apart again behind it.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace F = torch::nn::functional;

int main(int argc, char** argv) {
  const int64_t batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::randn({43, 6});
  auto data = torch::data::datasets::TensorDataset(x.unbind(0)).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(data), batch_size);
  torch::nn::Sequential net(torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 3));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor seen = batch.data, turned = seen.flip(1) * 0.9;
// form: two views of a batch in one pass, taken apart by chunk
      const std::vector<torch::Tensor> both = net->forward(torch::cat({seen, turned})).chunk(2);
      torch::Tensor loss = (1 - F::cosine_similarity(both[0], both[1].detach())).mean();
// form: two views of a batch in one pass, taken apart by split and slice
      const torch::Tensor joined = net->forward(torch::cat({turned, seen.square()}, 0));
      const auto parts = joined.split(seen.size(0));
      loss = loss + 0.3 * F::mse_loss(parts[0], parts[1]);
      loss = loss + 0.1 * F::pairwise_distance(joined.slice(0, 0, seen.size(0)), joined.slice(0, seen.size(0))).mean();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("%d %.9f\n", epoch, total);
  }
}
