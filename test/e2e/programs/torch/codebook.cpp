// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a codebook moved by sums over the samples that are products, of a turned one-hot matrix with the outputs
// SPDX-License-Identifier: Apache-2.0
//
// Vector quantisation: codes follow the mean of what was assigned to them, kept by running sums; the gradient goes straight through.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(4);
  torch::nn::Linear encoder(6, 3), decoder(3, 6);
  std::vector<torch::Tensor> params = encoder->parameters();
  for (auto& p : decoder->parameters()) params.push_back(p);
  torch::optim::SGD optimizer(params, lr);
  torch::Tensor codes = torch::randn({5, 3}), counts = torch::ones({5}), sums = codes.clone();
  const torch::Tensor x = torch::randn({61, 6});
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += batch) {
      torch::Tensor in = x.slice(0, at, std::min(at + batch, x.size(0)));
      torch::Tensor z = encoder->forward(in);
      torch::Tensor distance = z.detach().pow(2).sum(1, true) - 2 * z.detach().matmul(codes.t()) + codes.pow(2).sum(1);
      torch::Tensor one = torch::one_hot(distance.argmin(1), 5).to(torch::kFloat64);
      torch::Tensor q = one.matmul(codes);
      torch::Tensor loss = torch::mse_loss(decoder->forward(z + (q - z).detach()), in) + 0.25 * torch::mse_loss(z, q);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      {
        torch::NoGradGuard no_grad;
        counts.mul_(0.9).add_(one.sum(0), 0.1);
        sums.mul_(0.9).add_(torch::matmul(one.t(), z.detach().view({-1, 3})), 0.1);
        codes = sums / counts.unsqueeze(1);
      }
      total += loss.item<double>() * static_cast<double>(in.size(0));
    }
    std::printf("epoch %d loss %.10f counts %.10f\n", epoch, total / 61, counts.sum().item<double>());
  }
  torch::save(codes, "codes.pt");
  torch::save(encoder, "net.pt");
}
