// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatchSize = 16 => kBatchSize = {16*N}; edit=AdamOptions(2e-3) => AdamOptions({2e-3*sqrt(N)}); edit=AdamOptions(1e-3) => AdamOptions({1e-3*sqrt(N)}); ranks=1,2,3; timeout=120
// Two models, two optimizers, two backward calls into one step, noise drawn in the loop with the size of the batch at hand, labels by empty().uniform_.
// form: two optimizers and two models (GAN)
// form: several backward calls into one step
#include <torch/torch.h>

#include <cstdio>
#include <iostream>

const int64_t kNoise = 6;
const int64_t kBatchSize = 16;

struct Curve : torch::data::datasets::Dataset<Curve> {
  torch::data::Example<> get(size_t i) override {
    const double t = 0.21 * static_cast<double>(i);
    return {torch::tensor({std::sin(t), std::cos(t), std::sin(2 * t), 0.5 * std::cos(3 * t)}, torch::kDouble), torch::zeros({1}, torch::kDouble)};
  }
  torch::optional<size_t> size() const override { return 90; }
};

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl() : one(kNoise, 12), two(12, 4) {
    register_module("one", one);
    register_module("two", two);
  }
  torch::Tensor forward(torch::Tensor x) { return torch::tanh(two(torch::relu(one(x)))); }
  torch::nn::Linear one, two;
};
TORCH_MODULE(Generator);

int main() {
  torch::manual_seed(1);
  Generator generator;
  generator->to(torch::kDouble);
  torch::nn::Sequential discriminator(torch::nn::Linear(4, 12), torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
                                      torch::nn::Linear(12, 1), torch::nn::Sigmoid());
  discriminator->to(torch::kDouble);
  auto dataset = Curve().map(torch::data::transforms::Stack<>());
  const int64_t per_epoch = static_cast<int64_t>(std::ceil(dataset.size().value() / static_cast<double>(kBatchSize)));
  auto loader = torch::data::make_data_loader(std::move(dataset), torch::data::DataLoaderOptions().batch_size(kBatchSize));
  torch::optim::Adam g_optimizer(generator->parameters(), torch::optim::AdamOptions(2e-3).betas(std::make_tuple(0.5, 0.999)));
  torch::optim::Adam d_optimizer(discriminator->parameters(), torch::optim::AdamOptions(1e-3).betas(std::make_tuple(0.5, 0.999)));
  for (int epoch = 1; epoch <= 3; ++epoch) {
    int64_t index = 0;
    for (torch::data::Example<>& batch : *loader) {
      discriminator->zero_grad();
      torch::Tensor real = batch.data;
      torch::Tensor real_labels = torch::empty(batch.data.size(0), torch::kDouble).uniform_(0.8, 1.0);
      torch::Tensor d_real = torch::binary_cross_entropy(discriminator->forward(real).squeeze(1), real_labels);
      d_real.backward();
      torch::Tensor noise = torch::randn({batch.data.size(0), kNoise}, torch::kDouble);
      torch::Tensor fake = generator->forward(noise);
      torch::Tensor fake_labels = torch::zeros(batch.data.size(0), torch::kDouble);
      torch::Tensor d_fake = torch::binary_cross_entropy(discriminator->forward(fake.detach()).squeeze(1), fake_labels);
      d_fake.backward();
      torch::Tensor d_loss = d_real + d_fake;
      d_optimizer.step();

      generator->zero_grad();
      fake_labels.fill_(1);
      torch::Tensor g_loss = torch::binary_cross_entropy(discriminator->forward(fake).squeeze(1), fake_labels);
      g_loss.backward();
      g_optimizer.step();
      if (++index % 3 == 0)
        std::printf("[%d][%ld/%ld] D %.9f G %.9f\n", epoch, static_cast<long>(index), static_cast<long>(per_epoch), d_loss.item<double>(), g_loss.item<double>());
    }
    torch::save(generator, "generator.pt");
    torch::save(g_optimizer, "generator-optimizer.pt");
    std::cout << "checkpoint " << epoch << "\n";
  }
  for (const auto& p : generator->named_parameters()) std::printf("G %s %.12e\n", p.key().c_str(), p.value().sum().item<double>());
  for (const auto& p : discriminator->named_parameters()) std::printf("D %s %.12e\n", p.key().c_str(), p.value().sum().item<double>());
}
