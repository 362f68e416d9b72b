// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=120
// form: tensors of a batch's size that are made in front of the loop
// The labels of a GAN, weights, positions: all ranks hold them for the whole batch, and take their rows where these meet samples.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace F = torch::nn::functional;

torch::Tensor judge(torch::nn::Linear& net, const torch::Tensor& x, const torch::Tensor& labels) {
  return F::binary_cross_entropy_with_logits(net(x), labels);
}

struct Judge {
  torch::nn::Linear net;
  torch::Tensor labels;
  Judge(torch::nn::Linear n, int64_t size) : net(n), labels(torch::ones({size, 1}, torch::kDouble)) {}
  torch::Tensor loss(const torch::Tensor& x) { return F::binary_cross_entropy_with_logits(net(x), labels); }
};

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(3);
  auto x = torch::randn({48, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()),
                                              torch::data::DataLoaderOptions(size).drop_last(true));
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  Judge judged(net, size);
  auto real = torch::full({size, 1}, 0.9, torch::kDouble), fake = torch::zeros({size, 1}, torch::kDouble);
  auto positions = torch::arange(size).to(torch::kDouble).unsqueeze(1) / static_cast<double>(size);
  auto noise = torch::randn({size, 4}, torch::kDouble);
  auto features = torch::linspace(0.0, 1.0, 4, torch::kDouble);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto softer = real.clone() * 0.5;
      auto first = real.slice(0, 0, batch.data.size(0));
      auto loss = judge(net, batch.data, real) + judge(net, batch.data * features, fake) + judged.loss(batch.data) + F::mse_loss(net(batch.data), positions) +
                  F::mse_loss(net(batch.data + noise), softer) + F::l1_loss(net(batch.data), first) + net(noise).mean();
      loss.backward();
      optimizer.step();
      std::cout << std::setprecision(12) << loss.item<double>() << '\n';
    }
  torch::save(net, "net.pt");
}
