// SPDX-License-Identifier: Apache-2.0
// e2e: hvdize=--sync-bn; edit=kBatch = 8 => kBatch = {8*N}; edit=lr = 0.05 => lr = {0.05*N}; ranks=1,2,3; timeout=120
// Noise and labels of a literal batch size beside a last batch that is shorter: two backward passes, one of a sum of both, and labels made before the loop.
// form: noise of a literal batch size beside a shorter last batch
#include <torch/torch.h>

#include <cstdio>

constexpr int64_t kBatch = 8;
constexpr int64_t kNoise = 5;

struct Curve : torch::data::datasets::Dataset<Curve> {
  torch::data::Example<> get(size_t i) override {
    const double t = 0.21 * static_cast<double>(i);
    return {torch::tensor({std::sin(t), std::cos(t), std::sin(2 * t), 0.5 * std::cos(3 * t)}, torch::kDouble), torch::zeros({1}, torch::kDouble)};
  }
  torch::optional<size_t> size() const override { return 47; }
};

int main() {
  torch::manual_seed(1);
  const double lr = 0.05;
  torch::nn::Sequential generator(torch::nn::Linear(torch::nn::LinearOptions(kNoise, 12).bias(false)), torch::nn::BatchNorm1d(12), torch::nn::Tanh(), torch::nn::Linear(12, 4));
  torch::nn::Sequential discriminator(torch::nn::Linear(4, 12), torch::nn::LeakyReLU(), torch::nn::BatchNorm1d(12), torch::nn::Linear(12, 1), torch::nn::Sigmoid());
  generator->to(torch::kDouble);
  discriminator->to(torch::kDouble);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Curve().map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(kBatch));
  torch::optim::SGD g_optimizer(generator->parameters(), lr);
  torch::optim::SGD d_optimizer(discriminator->parameters(), lr);
  const auto wanted = torch::ones({kBatch, 1}, torch::kDouble);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (auto& batch : *loader) {
      discriminator->zero_grad();
      auto real = batch.data;
      auto d_real = torch::binary_cross_entropy(discriminator->forward(real), torch::ones({real.size(0), 1}, torch::kDouble));
      d_real.backward();
      auto noise = torch::randn({kBatch, kNoise}, torch::kDouble);
      auto fake = generator->forward(noise);
      auto d_fake = torch::binary_cross_entropy(discriminator->forward(fake.detach()), torch::full({kBatch, 1}, 0.1, torch::kDouble));
      d_fake.backward();
      d_optimizer.step();

      generator->zero_grad();
      auto g_loss = torch::binary_cross_entropy(discriminator->forward(fake), wanted);
      g_loss.backward();
      g_optimizer.step();
      std::printf("D %.9f G %.9f\n", (d_real + d_fake).item<double>(), g_loss.item<double>());

      discriminator->zero_grad();
      auto other = generator->forward(torch::rand({kBatch, kNoise}, torch::kDouble)).detach();
      auto both = discriminator->forward(other).mean() - discriminator->forward(real).mean();
      both.backward();
      d_optimizer.step();
      std::printf("both %.9f\n", both.item<double>());
    }
  }
  torch::save(generator, "generator.pt");
  torch::save(discriminator, "discriminator.pt");
}
