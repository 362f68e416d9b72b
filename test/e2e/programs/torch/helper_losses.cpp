// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.01*N}; ranks=1,2,3; timeout=60
// form: loss of a variational autoencoder: sums of a helper, divided by the rows where it is called
// Sums over the batch that helpers return, one by one, in pairs, tuples and structs, stand before the code that divides them by the rows, or behind
// it: what they are must be known before the quotient is looked at.
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>

struct VaeImpl : torch::nn::Module {
  VaeImpl() : hidden(register_module("hidden", torch::nn::Linear(5, 6))), mean(register_module("mean", torch::nn::Linear(6, 2))),
              spread(register_module("spread", torch::nn::Linear(6, 2))), back(register_module("back", torch::nn::Linear(2, 5))) {}
  struct Output {
    torch::Tensor pictures, mean, spread;
  };
  Output forward(const torch::Tensor& x) {
    const auto h = torch::tanh(hidden(x));
    const auto m = mean(h), s = spread(h);
    return {torch::sigmoid(back(m + torch::exp(0.5 * s) * 0.1)), m, s};
  }
  torch::nn::Linear hidden, mean, spread, back;
};
TORCH_MODULE(Vae);

torch::Tensor difference(const torch::Tensor& pictures, const torch::Tensor& x) { return (pictures - x).pow(2).sum(); }

std::pair<torch::Tensor, torch::Tensor> both(const torch::Tensor& pictures, const torch::Tensor& x, const torch::Tensor& mean, const torch::Tensor& spread) {
  const auto a = torch::binary_cross_entropy(pictures, x, {}, torch::Reduction::Sum);
  const auto b = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum();
  return {a, b};
}

struct Terms {
  torch::Tensor recon, kl;
};
Terms terms_of(const VaeImpl::Output& out, const torch::Tensor& x);
std::tuple<torch::Tensor, torch::Tensor, double> tuple_of(const VaeImpl::Output& out, const torch::Tensor& x);

int main(int argc, char** argv) {
  const std::int64_t batch_size = argc > 1 ? std::stoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::stod(argv[2]) : 0.01;
  torch::manual_seed(3);
  auto rows = torch::data::datasets::TensorDataset(torch::rand({50, 5}, torch::kDouble));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(rows, torch::data::DataLoaderOptions().batch_size(batch_size));
  Vae vae;
  vae->to(torch::kDouble);
  torch::optim::SGD optimizer(vae->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  std::cout << std::setprecision(9);
  for (int epoch = 0; epoch < 4; ++epoch) {
    double shown = 0, weight = 0;
    for (auto& batch : *loader) {
      std::vector<torch::Tensor> items;
      for (auto& example : batch) items.push_back(example.data);
      const auto x = torch::stack(items);
      const auto out = vae->forward(x);
      torch::Tensor loss;
      if (epoch == 0) {
        loss = difference(out.pictures, x) / x.size(0);
      } else if (epoch == 1) {
        auto [recon, kl] = both(out.pictures, x, out.mean, out.spread);
        loss = (recon + kl) / x.size(0);
      } else if (epoch == 2) {
        const auto terms = terms_of(out, x);
        loss = terms.recon / x.size(0) + 0.1 * terms.kl / static_cast<double>(x.size(0));
      } else {
        auto [recon, kl, factor] = tuple_of(out, x);
        loss = (recon + factor * kl).div(x.size(0));
        weight = factor;
      }
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      shown += loss.item<double>() * x.size(0);
    }
    std::cout << epoch << ' ' << shown / 50 << ' ' << weight << '\n';
  }
  torch::save(vae, "vae.pt");
}

Terms terms_of(const VaeImpl::Output& out, const torch::Tensor& x) {
  Terms terms;
  terms.recon = torch::mse_loss(out.pictures, x, torch::Reduction::Sum);
  terms.kl = -0.5 * torch::sum(1 + out.spread - out.mean.pow(2) - out.spread.exp());
  return terms;
}

std::tuple<torch::Tensor, torch::Tensor, double> tuple_of(const VaeImpl::Output& out, const torch::Tensor& x) {
  auto recon = torch::l1_loss(out.pictures, x, torch::Reduction::Sum);
  auto kl = -0.5 * (1 + out.spread - out.mean * out.mean - out.spread.exp()).sum();
  return std::make_tuple(recon, kl, 0.25);
}
