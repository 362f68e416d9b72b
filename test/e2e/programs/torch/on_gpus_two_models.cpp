// SPDX-License-Identifier: Apache-2.0
// e2e: gpus=4; scaled={8*N} {0.01*N}; ranks=1,2,3; timeout=120
// Two models on GPUs: a generator against a discriminator, gradients summed over two backward passes, a
// teacher that follows by a moving mean, seeds and waits of CUDA's own names.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace nn = torch::nn;

nn::Sequential layers(int64_t in, int64_t out) { return nn::Sequential(nn::Linear(in, 16), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::Linear(16, out)); }

struct Points : torch::data::Dataset<Points> {
  torch::data::Example<> get(size_t i) override {
    const double t = 0.1 * static_cast<double>(i);
    return {torch::tensor({std::sin(t), std::cos(t), std::sin(2 * t)}, torch::kDouble), torch::tensor(static_cast<int64_t>(i % 2))};
  }
  torch::optional<size_t> size() const override { return 72; }
};

int main(int, char** argv) {
  const auto batch_size = static_cast<size_t>(std::atoll(argv[1]));
  const double rate = std::atof(argv[2]);
  torch::manual_seed(11);
  if (torch::cuda::is_available()) torch::cuda::manual_seed_all(11);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto generator = layers(4, 3), judge = layers(3, 1), teacher = layers(3, 1);
// form: two models on GPUs
  generator->to(device);
  judge->to(device);
  teacher->to(device);
  torch::optim::SGD for_generator(generator->parameters(), torch::optim::SGDOptions(rate)), for_judge(judge->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Points().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(batch_size).workers(2));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double judged = 0, generated = 0;
    int64_t steps = 0;
    for (auto& batch : *loader) {
      const auto real = batch.data.to(device);
      const auto seeds = torch::cat({real, real.sum(1, true)}, 1).sin();
      for_judge.zero_grad();
      auto of_real = nn::functional::binary_cross_entropy_with_logits(judge->forward(real), torch::ones({real.size(0), 1}, device));
      of_real.backward();
      auto of_fake = nn::functional::binary_cross_entropy_with_logits(judge->forward(generator->forward(seeds).detach()), torch::zeros({real.size(0), 1}, device));
      of_fake.backward();
      for_judge.step();
      for_generator.zero_grad();
      auto fooled = nn::functional::binary_cross_entropy_with_logits(judge->forward(generator->forward(seeds)), torch::ones({real.size(0), 1}, device));
      fooled.backward();
      for_generator.step();
      {
        torch::NoGradGuard no_grad;
        const auto from = judge->parameters(), to = teacher->parameters();
        for (size_t i = 0; i < to.size(); ++i) to[i].mul_(0.8).add_(from[i], 0.2);
      }
      judged += (of_real + of_fake).item<double>();
      generated += fooled.item<double>();
      ++steps;
    }
    if (torch::cuda::is_available()) torch::cuda::synchronize();
    std::printf("epoch %d judge %.10f generator %.10f\n", epoch, judged / static_cast<double>(steps), generated / static_cast<double>(steps));
  }
  torch::NoGradGuard no_grad;
  std::printf("teacher %.10f\n", teacher->forward(torch::ones({1, 3}, device)).item<double>());
  torch::save(generator, "generator.pt");
}
