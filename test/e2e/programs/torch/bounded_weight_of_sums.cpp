// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.01*N**0.5}; ranks=1,2,3; timeout=120
// form: a sum weighted by how far training has come, at most one: std::min(1.0, 2.0 * step / total), and divided with another by the rows
#include <torch/torch.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const int64_t size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.01;
  torch::manual_seed(9);
  const int64_t rows = 90;
  auto images = (torch::rand({rows, 12}) > 0.6).to(torch::kDouble);
  torch::nn::Linear encoder(12, 4), decoder(2, 12);
  std::vector<torch::Tensor> parameters = encoder->parameters();
  for (auto& p : decoder->parameters()) parameters.push_back(p);
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(rate));
  const int epochs = 3;
  const int64_t batches = (rows + size - 1) / size;
  int64_t total = epochs * batches, step = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double recovered = 0, divergence = 0;
    for (int64_t b = 0; b < batches; ++b) {
      auto x = images.slice(0, b * size, std::min((b + 1) * size, rows));
      auto code = encoder->forward(x).chunk(2, 1);
      auto out = torch::sigmoid(decoder->forward(code[0]));
      auto entropy = torch::binary_cross_entropy(out, x, {}, torch::Reduction::Sum);
      auto kl = -0.5 * torch::sum(1 + code[1] - code[0].pow(2) - code[1].exp());
      const double beta = std::min(1.0, 2.0 * step / total);
      auto loss = (entropy + beta * kl) / x.size(0);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      ++step;
      recovered += entropy.item<double>();
      divergence += kl.item<double>();
    }
    std::printf("%d: %.8f %.8f\n", epoch, recovered / rows, divergence / rows);
  }
  return 0;
}
